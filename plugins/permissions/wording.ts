/** What a person is asked and what a model is told. */
import type { Judged } from './subjects.ts';

const SHOWN = 1_500;
const clip = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** One line for a command or the paths of a call. */
const whatOf = (call: Judged, command: string | undefined): string =>
  clip(command ?? (call.paths.length > 0 ? call.paths.join(', ') : JSON.stringify(call.input)));

/** Told to the model when a rule forbids the call: no one will be asked. */
export const refusalOf = (call: Judged, command: string | undefined, why: string): string =>
  `Denied: ${call.tool} may not run, because ${why}: ${whatOf(call, command)}\nDo not try to get around it. Reach the goal in another way, or say what you would need.`;

export interface QuestionParts {
  readonly call: Judged;
  readonly command: string | undefined;
  readonly reasons: readonly string[];
  readonly rule: string | undefined;
  /** Whether a person reads it; else the model reads it as the reason for a denial. */
  readonly interactive: boolean;
}

export const questionOf = (parts: QuestionParts): string => (parts.interactive ? forPerson(parts) : forModel(parts));

const forPerson = ({ call, command, reasons, rule }: QuestionParts): string => {
  const wants = command === undefined ? `${call.tool} wants to ${call.effect === 'read' ? 'read' : 'work on'}` : `${call.tool} wants to run`;
  const why = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
  return [`${wants}${why}:`, whatOf(call, command), ...(rule === undefined ? [] : [scopeOf(call, command, rule)])].join('\n');
};
/** What a remembered yes covers, in words. */
const scopeOf = (call: Judged, command: string | undefined, rule: string): string => {
  if (command !== undefined) return `A remembered yes covers this very command, in the folder ${call.cwd}.`;
  if (rule === call.tool) return `A remembered yes covers every call of ${call.tool}.`;
  return call.paths.length > 0 ? 'A remembered yes covers this file only.' : `A remembered yes covers ${rule}.`;
};

const forModel = ({ call, command, reasons, rule }: QuestionParts): string => {
  const what = whatOf(call, command);
  const blocked =
    command === undefined
      ? `Blocked: ${call.tool} needs a yes from a person${reasons.length > 0 ? ` (${reasons.join('; ')})` : ''}: ${what}`
      : reasons.length > 0
        ? `Blocked: command matches a dangerous pattern (${reasons.join('; ')}): ${what}`
        : `Blocked: command needs a yes from a person: ${what}`;
  const flag = rule === undefined || rule.length > 300 ? '' : `--allow ${quoted(rule)} for this alone, or `;
  return `${blocked}\nUse a narrower call that does not need it if there is one. A person can allow it by starting cast with ${flag}--bypass-permissions.`;
};
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
