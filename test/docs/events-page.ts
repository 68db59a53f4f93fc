import type { EventType } from '../../kernel/events.ts';
import { membersOf, typesOf } from './declarations.ts';
import { block, code, page, table } from './markdown.ts';

const EVENTS = 'kernel/events.ts';

/** For the events that have no comment of their own. */
const WORDS: Readonly<Partial<Record<EventType, string>>> = {
  'session.opened': 'A session is ready; `resumed` when it has a history.',
  'turn.started': 'A turn begins. `clientId` is what the client gave with its input.',
  'input.accepted': 'An input is stored and part of the conversation; `origin` says whose it is.',
  'text.delta': 'More of the visible text of a reply.',
  'reasoning.delta': 'More of the model’s reasoning.',
  'reply.accepted': 'A reply is complete and stored. `visible` is its text as people see it.',
  'tool.started': 'A call begins to run, its input final.',
  'tool.progress': 'What a running call tells of itself.',
  'tool.ended': 'A call has its result. `denied` holds the reason when a gate or an unanswered question turned it down.',
  usage: 'Tokens of one model request. `child` is the session of a sub-agent; `estimated` when the provider did not say.',
  retry: 'A request is made again after `delayMs`.',
  'question.asked': 'A person is needed; the answer goes to `answer()` of the client.',
  'question.answered': 'A question is settled, by a person or by a plugin.',
  'workspace.moved': 'The working directory changed.',
  'queue.changed': 'The inputs that wait, all of them.',
  'tap.fault': 'A tap was at fault; `quarantined` when it is closed from now on.',
  notice: 'Worth telling the user.',
  warning: 'Worth the user’s attention.',
  error: 'The turn failed; the codes are those of [errors.md](errors.md).',
  'turn.ended': 'The turn is over; the last event of a turn.',
  'session.closed': 'The session is released; the last event of all.',
  plugin: 'An event of a plugin’s own, made with `scope.events.emit`.',
};

const INTRODUCTION = `# Events

Events tell what happened in a session. They come in order, and nothing that a listener does changes what happens: for that there are [hooks](hooks.md). Every surface (the
terminal, \`cast run\`, the browser) shows what events say and keeps no state of its own.

A plugin listens with \`scope.events.on('tool.ended', (data) => …)\`; a client reads them all from \`client.events()\`. Facts are never dropped. A reader that is slow gets the
texts of several \`text.delta\` or \`reasoning.delta\` in one.

Each event has this around its data:

${block(`{
  seq: number;      // rises by one with each event of the session
  at: number;       // epoch milliseconds
  session: string;
  turn?: number;
  step?: number;
  type: string;
  data: object;     // see below
}`)}`;

const REASONS: Readonly<Record<string, string>> = {
  stop: 'the model had nothing left to do',
  aborted: 'someone stopped it',
  error: 'it failed; an `error` event came before',
  disconnected: 'the connection broke in the middle of a reply and could not be taken up again',
  limit: 'a limit of steps, tokens, cost or time was reached',
  cut_off: 'the reply was cut off at the model’s output limit',
};

const endReasons = (): string => {
  const declared = typesOf(EVENTS).find(({ name }) => name === 'EndReason')?.text ?? '';
  const names = [...declared.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '');
  const rows = names.map((name) => {
    const text = REASONS[name];
    if (text === undefined) throw new Error(`test/docs/events-page.ts does not explain the end reason ${name}`);
    return [code(name), text];
  });
  return `## Why a turn ends\n\n\`reason\` of \`turn.ended\`:\n\n${table(['Reason', 'Means that'], rows)}`;
};

/** Words of this file that are not needed any more, because the event has a comment or is gone. */
export const staleWords = (): readonly string[] => {
  const bare = new Set(membersOf(EVENTS, 'EventMap').flatMap(({ name, comment }) => (comment === '' ? [name] : [])));
  return Object.keys(WORDS).filter((name) => !bare.has(name));
};

export const eventsPage = (): string => {
  const sections = membersOf(EVENTS, 'EventMap').map(({ name, type, comment }) => {
    const text = comment || WORDS[name as EventType];
    if (text === undefined) throw new Error(`${EVENTS}: event ${name} has no comment`);
    return `### ${name}\n\n${text}\n\n${block(type)}`;
  });
  return page(INTRODUCTION, '## All events', ...sections, endReasons());
};
