/** A session with the providers of settings, and what its commands leave behind. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CastConfig, CommandOutcome, Sketch } from '../../../../kernel/index.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../../../kernel/testkit/index.ts';
import providers from '../../../../plugins/providers/index.ts';

export interface Opened {
  readonly session: TestSession;
  /** `/provider list` */
  give(line: string): Promise<CommandOutcome>;
  /** The text of what it says. Throws where it fails. */
  tell(line: string): Promise<string>;
  /** Rows of its table: cells, and the commands behind them. */
  rows(line: string): Promise<readonly { readonly cells: readonly string[]; readonly commands: readonly string[] }[]>;
  settings(): Record<string, unknown>;
  secrets(): Record<string, string>;
}

export const openSession = async (settings: CastConfig = {}, more: TestSessionOptions = {}): Promise<Opened> => {
  const session = await createTestSession({ plugins: [providers as never], settings, ...more });
  onTestFinished(() => session.close());
  const give = (line: string): Promise<CommandOutcome> => {
    const [, name = '', args = ''] = /^\/(\S+)\s*(.*)$/.exec(line) ?? [];
    return session.client.command(name, args);
  };
  const result = async (line: string): Promise<string | Sketch> => {
    const outcome = await give(line);
    if (!outcome.ok) throw new Error(`${line}: ${outcome.code} ${outcome.message}`);
    return outcome.result ?? '';
  };
  const read = (name: string): Record<string, never> => {
    const file = join(session.home, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, never>) : {};
  };
  return {
    session,
    give,
    tell: async (line) => textOf(await result(line)),
    rows: async (line) => tableIn(await result(line)).map(({ cells, actions = [] }) => ({ cells, commands: actions.map(({ command }) => command) })),
    settings: () => {
      const { updatedAt: _, ...rest } = read('settings.json');
      return rest;
    },
    secrets: () => read('secrets.json'),
  };
};

const textOf = (result: string | Sketch): string => {
  if (typeof result === 'string') return result;
  if (result.kind === 'rows') return result.rows.map(textOf).join('\n');
  return result.kind === 'text' ? result.text : '';
};
const tableIn = (result: string | Sketch): Extract<Sketch, { kind: 'table' }>['rows'] => {
  if (typeof result === 'string') return [];
  if (result.kind === 'rows') return result.rows.flatMap(tableIn);
  return result.kind === 'table' ? result.rows : [];
};
