import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import type { ToolInputs, ToolResult } from '../../../../kernel/index.ts';
import { type Desk, openDesk } from '../desk.ts';

export type Op = NonNullable<ToolInputs['edit']['ops']>[number];

/** The anchor of a line, by its number from 1. */
export type Anchors = (number: number) => string;

export interface LineDesk extends Desk {
  /** As `read` shows them now. */
  anchors(): Promise<Anchors>;
  edit(...ops: readonly Op[]): Promise<ToolResult>;
}

/** The tools in the mode `hashline` and the file `a.txt`, anew for each test. */
export const useLineDesk = (): LineDesk => {
  let desk: Desk;
  beforeEach(() => {
    desk = openDesk({ mode: 'hashline' });
  });
  afterEach(() => desk.remove());
  return {
    get cwd() {
      return desk.cwd;
    },
    put: (name, content) => desk.put(name, content),
    bytes: (name) => desk.bytes(name),
    text: (name) => desk.text(name),
    run: (tool, input, call) => desk.run(tool, input, call),
    pooled: (key) => desk.pooled(key),
    remove: () => desk.remove(),
    anchors: () => anchorsOf(desk),
    edit: (...ops) => desk.run('edit', { filePath: 'a.txt', ops }),
  };
};

export const anchorsOf = async (desk: Desk): Promise<Anchors> => {
  const { content } = await desk.run('read', { path: 'a.txt' });
  const all = content.split('\n').flatMap((row) => /^\d+:[a-z]{3}:[a-z]{3}(?=→)/.exec(row) ?? []);
  return (number) => {
    const anchor = all[number - 1];
    if (anchor === undefined) throw new Error(`read shows no line ${number}`);
    return anchor;
  };
};
export const rows = (count: number): string => Array.from({ length: count }, (_, index) => `row ${index + 1}\n`).join('');
export const local = (anchor: string): string => anchor.split(':')[1] ?? '';

export const expectRefused = (desk: Desk, result: ToolResult, before: string, says: RegExp): void => {
  expect(result).toMatchObject({ status: 'error', content: expect.stringMatching(says) });
  expect(result.content).toContain('Nothing was changed.');
  expect(desk.text('a.txt')).toBe(before);
  expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
};
