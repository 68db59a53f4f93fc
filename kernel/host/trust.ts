/** Which projects are trusted, in `$CAST_HOME/trust.json`. Code is bound to its content, text to the decision. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CastError, messageOf } from '../errors.ts';
import type { Clock } from '../plugin.ts';
import { changeLocked } from './locked-file.ts';

/** What of a project is used only once it is trusted. */
export interface Gated {
  /** SHA-256 by path, relative to the top of the checkout. An empty hash: it could not be read whole, so it never counts as unchanged. */
  readonly code: Readonly<Record<string, string>>;
  /** Paths of instructions, skills and the like. */
  readonly text: readonly string[];
}

/** `text`: its instructions may be read, its code may not run. */
export type TrustDecision = 'trusted' | 'text' | 'untrusted';
export interface TrustStatus {
  /** `undecided`: nobody was asked. `changed`: trusted, but code is new or differs since. */
  readonly decision: TrustDecision | 'undecided' | 'changed';
  /** Paths of the code that is new or differs; with `changed` only. */
  readonly changed?: readonly string[];
  /** Paths of text that came since the decision: worth a notice. */
  readonly newText?: readonly string[];
}
export interface TrustRecord extends Gated {
  readonly root: string;
  readonly decision: TrustDecision;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface TrustStore {
  /** Set while the file cannot be read: every project is untrusted then, and nothing is written. */
  readonly problem: CastError | undefined;
  status(root: string, contents: Gated): TrustStatus;
  /** Throws TRUST_STORE when the decision cannot be kept. */
  decide(root: string, decision: TrustDecision, contents: Gated): Promise<void>;
  list(): readonly TrustRecord[];
  /** False when there was no decision. */
  revoke(root: string): Promise<boolean>;
}

type Records = Record<string, Omit<TrustRecord, 'root'>>;

/** The file is read at each call, so that a decision taken elsewhere counts at once. */
export const openTrust = ({ home, clock }: { readonly home: string; readonly clock: Clock }): TrustStore => {
  const file = join(home, 'trust.json');
  const change = (edit: (records: Records) => void): Promise<void> =>
    changeLocked({ file, clock, code: 'TRUST_STORE' }, () => {
      const { records, problem } = readRecords(file);
      if (problem) throw problem;
      edit(records);
      return `${JSON.stringify({ version: 1, projects: records }, null, 2)}\n`;
    });
  return {
    get problem() {
      return readRecords(file).problem;
    },
    status: (root, contents) => {
      const { records, problem } = readRecords(file);
      return problem ? { decision: 'untrusted' } : statusOf(own(records, root), contents);
    },
    decide: (root, decision, contents) =>
      change((records) => {
        // Other folders of a trusted project stay trusted: what is gated depends on the folder that cast was started in.
        const known = own(records, root);
        const before = known?.decision === 'trusted' ? known : undefined;
        records[root] = {
          decision,
          at: clock.now(),
          code: decision === 'trusted' ? { ...before?.code, ...contents.code } : {},
          text: [...new Set([...(before?.text ?? []), ...contents.text])],
        };
      }),
    list: () => Object.entries(readRecords(file).records).map(([root, record]) => ({ root, ...record })),
    revoke: async (root) => {
      if (!own(readRecords(file).records, root)) return false;
      await change((records) => {
        delete records[root];
      });
      return true;
    },
  };
};

const statusOf = (record: Records[string] | undefined, contents: Gated): TrustStatus => {
  if (!record) return { decision: 'undecided' };
  if (record.decision === 'untrusted') return { decision: 'untrusted' };
  const newText = contents.text.filter((path) => !record.text.includes(path));
  const notice = newText.length > 0 ? { newText } : {};
  if (record.decision === 'text') return { decision: 'text', ...notice };
  const changed = Object.entries(contents.code).flatMap(([path, hash]) => (hash !== '' && own(record.code, path) === hash ? [] : [path]));
  return changed.length > 0 ? { decision: 'changed', changed, ...notice } : { decision: 'trusted', ...notice };
};

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined => (Object.hasOwn(record, key) ? record[key] : undefined);

const readRecords = (file: string): { readonly records: Records; readonly problem?: CastError } => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { records: {} };
    return { records: {}, problem: storeError(file, 'cannot be read', error) };
  }
  try {
    const data: unknown = JSON.parse(text);
    if (isStore(data)) return { records: data.projects };
    return { records: {}, problem: storeError(file, 'is not a record of trusted projects') };
  } catch (error) {
    return { records: {}, problem: storeError(file, 'is damaged', error) };
  }
};

const storeError = (file: string, what: string, cause?: unknown): CastError =>
  new CastError('TRUST_STORE', `${file} ${what}${cause === undefined ? '' : `: ${messageOf(cause)}`}`, {
    fix: `Mend ${file}, or move it away and decide again with \`cast trust\`.`,
    ...(cause === undefined ? {} : { cause }),
  });

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');
const isStore = (value: unknown): value is { projects: Records } =>
  isRecord(value) && isRecord(value['projects']) && Object.values(value['projects']).every(isEntry);
const isEntry = (value: unknown): boolean =>
  isRecord(value) &&
  (value['decision'] === 'trusted' || value['decision'] === 'text' || value['decision'] === 'untrusted') &&
  typeof value['at'] === 'number' &&
  isRecord(value['code']) &&
  isTexts(Object.values(value['code'])) &&
  Array.isArray(value['text']) &&
  isTexts(value['text']);
