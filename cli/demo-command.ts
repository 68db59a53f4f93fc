import { Command } from 'clipanion';
import { CastCommand } from './arguments.ts';
import { playDemo } from './demo.ts';

export class DemoCommand extends CastCommand {
  static override paths = [['demo']];
  static override usage = Command.Usage({ description: 'The real loop on a bundled project with a recorded model: no key needed' });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    return playDemo({ stdio, environment });
  }
}
