import { type ToolCall, ToolError, type ToolInputs, type ToolResult } from '../../kernel/index.ts';
import { commit, readText } from './commit.ts';
import { elisionIn } from './elision.ts';
import type { TextFile } from './encoding.ts';
import { countOf, type Lined, lined, plainFeeds, replaceSpans, type Span } from './endings.ts';
import { graft } from './graft.ts';
import { findPlace, type Found, MAX_PLACES } from './match.ts';
import { fileNotFound } from './nearby.ts';
import { answering } from './answering.ts';
import { type Desk, locate, mustBeRegular, type Target } from './target.ts';
import { create, mustNameFile } from './write.ts';

interface Step {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean;
  /** How an error names it: empty when it is the only one. */
  readonly label: string;
}

export const edit = (input: ToolInputs['edit'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(input.filePath, call.signal, async () => {
    const steps = stepsOf(input);
    const target = await locate(input.filePath, call, desk);
    mustNameFile(input.filePath, target);
    const isCreation = steps.some((step) => step.oldString === '');
    if (isCreation) return createOnly(steps, target, call, desk);
    if (!target.stat) throw await fileNotFound(target, call);
    mustBeRegular(target.stat, target.shown);
    return change(steps, target, call, desk);
  });

const stepsOf = (input: ToolInputs['edit']): readonly Step[] => {
  const { oldString, newString, replaceAll, edits = [] } = input;
  if ((oldString === undefined) !== (newString === undefined) || (oldString === undefined && edits.length === 0)) {
    throw new ToolError('INVALID_ARGUMENT', 'oldString and newString are required, both of them, or a list of edits.');
  }
  const first = oldString === undefined || newString === undefined ? [] : [{ oldString, newString, ...(replaceAll === undefined ? {} : { replaceAll }) }];
  const all = [...first, ...edits];
  return all.map((step, index) => {
    const label = all.length === 1 ? '' : `Edit ${index + 1} of ${all.length}: `;
    if (plainFeeds(step.oldString) === plainFeeds(step.newString)) throw new ToolError('INVALID_ARGUMENT', `${label}oldString and newString are the same.`);
    return { ...step, label };
  });
};

const createOnly = async (steps: readonly Step[], target: Target, call: ToolCall, desk: Desk): Promise<ToolResult> => {
  const [step, ...more] = steps;
  if (!step || more.length > 0) throw new ToolError('INVALID_ARGUMENT', 'An empty oldString creates a file and stands alone.');
  if (target.stat) {
    throw new ToolError('CONFLICT', `${target.shown} already exists; an empty oldString only creates a new file.`, {
      fix: 'Give the text to replace as oldString, or use write to replace the whole file.',
    });
  }
  return create(target, step.newString, call, desk);
};

const change = async (steps: readonly Step[], target: Target, call: ToolCall, desk: Desk): Promise<ToolResult> => {
  const before = await readText(target, call.signal);
  const { file } = before;
  const notes: string[] = [];
  let raw = file.text;
  for (const step of steps) {
    const done = applyStep(raw, step, file, target);
    raw = done.raw;
    notes.push(...done.notes);
  }
  return commit({ target, before, raw, notes }, call, desk);
};

const applyStep = (raw: string, step: Step, { encoding }: TextFile, target: Target): { raw: string; notes: readonly string[] } => {
  const file = lined(raw);
  const old = encoding.inward(plainFeeds(step.oldString).replace(/^\ufeff/, ''));
  const wanted = encoding.inward(plainFeeds(step.newString).replace(/^\ufeff/, ''));
  const outcome = findPlace(file.text, { old, wanted }, step.replaceAll ?? false, encoding.exactOnly);
  if (!outcome) throw notFound(step, target);
  if ('several' in outcome) throw ambiguous(step, target, file, outcome.several);
  const { found } = outcome;
  const elision = elisionIn(step.newString, `${step.oldString}\n${encoding.outward(spanTexts(file, found))}`);
  if (elision !== undefined) {
    throw new ToolError(
      'INVALID_ARGUMENT',
      `${step.label}newString leaves lines out (\`${elision}\`), so ${target.shown} would lose them. Nothing was changed.`,
      {
        fix: 'Give the complete new text, or replace only the lines that change.',
      },
    );
  }
  for (const span of found.spans) mustBeAboutAsAsked(file, span, old, step, target);
  const changes = found.spans.map((span) => ({ span, text: textFor(file, span, found) }));
  return { raw: replaceSpans(file, changes), notes: notesOf(step, found) };
};

const spanTexts = (file: Lined, { spans }: Found): string => spans.map((span) => file.text.slice(span.start, span.end)).join('\n');

const notesOf = (step: Step, { how, spans }: Found): readonly string[] => [
  ...(step.replaceAll ? [`${step.label}${spans.length} ${spans.length === 1 ? 'occurrence' : 'occurrences'} replaced.`] : []),
  ...(how === 'exact' ? [] : [`${step.label}oldString did not occur exactly; its place was found by ${how}.`]),
];

const textFor = (file: Lined, span: Span, { how, wish }: Found): string => (how === 'exact' ? wish.wanted : graft(file.text.slice(span.start, span.end), wish));

const mustBeAboutAsAsked = (file: Lined, span: Span, old: string, step: Step, target: Target): void => {
  const found = file.text.slice(span.start, span.end);
  const [lines, asked] = [countOf(found, '\n') + 1, countOf(old, '\n') + 1];
  const isTooLong = lines > 1 && found.length > Math.max(old.length + 500, 4 * old.length);
  if (lines < Math.max(asked + 3, 2 * asked) && !isTooLong) return;
  throw new ToolError(
    'INVALID_ARGUMENT',
    `${step.label}the place that resembles oldString in ${target.shown} is far larger (${lines} lines). Nothing was changed.`,
    {
      fix: 'Read the file again and give the exact text.',
    },
  );
};

const notFound = (step: Step, target: Target): ToolError =>
  new ToolError('NOT_FOUND', `${step.label}oldString was not found in ${target.shown}. Nothing was changed.`, {
    fix: 'Read the file again and copy the text exactly, without line numbers.',
  });

const ambiguous = (step: Step, target: Target, file: Lined, spans: readonly Span[]): ToolError => {
  const lines = spans.slice(0, 20).map((span) => countOf(file.text.slice(0, span.start), '\n') + 1);
  const more = spans.length > lines.length ? ', …' : '';
  return new ToolError(
    'INVALID_ARGUMENT',
    `${step.label}oldString matches ${spans.length > MAX_PLACES ? `more than ${MAX_PLACES}` : spans.length} places in ${target.shown}, at lines ${lines.join(', ')}${more}. Nothing was changed.`,
    {
      fix: `Add lines around it to make it unique${spans.length > MAX_PLACES ? '' : ', or set replaceAll'}.`,
    },
  );
};
