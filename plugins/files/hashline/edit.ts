import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../../kernel/index.ts';
import { answering } from '../answering.ts';
import { commit, notText } from '../commit.ts';
import { decodeFile } from '../encoding.ts';
import { fileNotFound } from '../nearby.ts';
import { type Desk, locate, mustBeRegular, readWhole } from '../target.ts';
import { write } from '../write.ts';
import { applyHunks, regionsAfter } from './apply.ts';
import type { LineCache } from './line-cache.ts';
import { LineTable } from './line-table.ts';
import { openLines } from './open-lines.ts';
import { type Op, planOf } from './plan.ts';
import { regionRows } from './rows.ts';

type LineDesk = Desk & { readonly lines: LineCache };

export const edit = ({ filePath, ops = [] }: ToolInputs['edit'], call: ToolCall, desk: LineDesk): Promise<ToolResult> =>
  answering(filePath, call.signal, () => {
    const whole = ops.find((op) => op.op === 'write');
    return whole ? rewrite(whole, ops, filePath, call, desk) : change(ops, filePath, call, desk);
  });

const change = async (ops: readonly Op[], path: string, call: ToolCall, desk: LineDesk): Promise<ToolResult> => {
  const target = await locate(path, call, desk);
  if (!target.stat) throw await fileNotFound(target, call);
  mustBeRegular(target.stat, target.shown);
  const before = await openLines(desk.lines, target.path, target.stat, () => readWhole(target, call.signal));
  if (!before) throw notText(target);
  const { table } = before;
  const { hunks, notes } = planOf(ops, table, target.shown);
  const raw = applyHunks(table, hunks);
  const shown = (): string => regionRows(new LineTable({ ...table.file, text: raw }), regionsAfter(hunks));
  return commit({ target, before: { ...before, file: table.file }, raw, notes, shown }, call, desk);
};

const rewrite = async (op: Op, ops: readonly Op[], path: string, call: ToolCall, desk: LineDesk): Promise<ToolResult> => {
  if (ops.length > 1) throw new ToolError('INVALID_ARGUMENT', 'write replaces the whole file and stands alone. Nothing was changed.');
  if (op.anchor !== undefined || op.end_anchor !== undefined) {
    throw new ToolError('INVALID_ARGUMENT', 'write replaces the whole file and takes no anchor. Nothing was changed.', {
      fix: 'To change some lines use replace, insert_after or insert_before.',
    });
  }
  const result = await write({ path, content: op.content }, call, desk);
  if (result.status !== 'ok' || result.changed === undefined) return result;
  const target = await locate(path, call, desk);
  const { bytes } = await readWhole(target, call.signal);
  const file = await decodeFile(bytes);
  if (!file) return result;
  const table = new LineTable(file);
  return { ...result, content: `${result.content}\n${regionRows(table, [{ from: 0, to: table.count }])}` };
};
