/** `cast trust`: what a project may run and say. */
import { Command, Option } from 'clipanion';
import { systemClock } from '../kernel/host/clock.ts';
import { openTrust, type Gated, type TrustStore } from '../kernel/host/trust.ts';
import { CastCommand } from './arguments.ts';
import { collectGated } from './config/gated.ts';
import { alignRows, count } from './style.ts';

/** Throws TRUST_STORE rather than deciding on top of a record that cannot be read. */
const openStore = (home: string): TrustStore => {
  const store = openTrust({ home, clock: systemClock });
  if (store.problem) throw store.problem;
  return store;
};

class DecideCommand extends CastCommand {
  static override paths = [['trust']];
  static override usage = Command.Usage({
    category: 'Trust',
    description: 'Let a project run its code and give its instructions',
    details: 'Its code is asked about again when it changes. With `--trust=text` only instructions are read, and none of its code runs.',
  });
  dir = Option.String({ required: false, name: 'DIR' });

  override async execute(): Promise<number> {
    const { cwd, root, home } = this.place(this.dir);
    const gated = await collectGated(root, cwd, home);
    const isTextOnly = this.trusted === 'text';
    await openStore(home).decide(root, isTextOnly ? 'text' : 'trusted', gated);
    await this.print([
      `${isTextOnly ? 'The instructions of' : 'Trusted:'} ${root}${isTextOnly ? ' are read; its code is not run.' : ''}`,
      ...contents(gated, isTextOnly),
    ]);
    return 0;
  }
}

const contents = ({ code, text }: Gated, isTextOnly: boolean): readonly string[] => {
  const files = Object.keys(code);
  if (files.length + text.length === 0) return ['There is nothing in it that needs trust.'];
  return [...files.map((file) => `  ${isTextOnly ? 'not run' : 'may run'}  ${file}`), ...text.map((file) => `  is read  ${file}`)];
};

class ListCommand extends CastCommand {
  static override paths = [['trust', 'list']];
  static override usage = Command.Usage({ category: 'Trust', description: 'Projects that have been decided about' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  override async execute(): Promise<number> {
    const records = openStore(this.place().home).list();
    if (this.json) await this.print(JSON.stringify(records, null, 2));
    else if (records.length === 0) await this.print('No project is trusted.');
    else await this.print(alignRows(records.map(({ root, decision, code }) => [decision, count(Object.keys(code).length, 'file'), root])));
    return 0;
  }
}

class RevokeCommand extends CastCommand {
  static override paths = [['trust', 'revoke']];
  static override usage = Command.Usage({ category: 'Trust', description: 'Forget the decision about a project' });
  dir = Option.String({ required: false, name: 'DIR' });

  override async execute(): Promise<number> {
    const { root, home } = this.place(this.dir);
    const wasThere = await openStore(home).revoke(root);
    await this.print(wasThere ? `No longer trusted: ${root}` : `There was no decision about ${root}`);
    return 0;
  }
}

export const trustCommands = [DecideCommand, ListCommand, RevokeCommand];
