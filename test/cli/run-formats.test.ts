import { describe, expect, test } from 'vitest';
import { addToResult, emptyResult, jsonLine, lineOf, numbered, remarkOn, type RunResult } from '../../cli/run-formats.ts';
import type { CastEvent, EventMap, EventType, Usage } from '../../kernel/index.ts';

const usage: Usage = { promptTokens: 7, completionTokens: 3, totalTokens: 10, cacheReadTokens: 1, cacheWriteTokens: 0, reasoningTokens: 2 };
const event = <K extends EventType>(type: K, data: EventMap[K]): CastEvent => ({ seq: 4, at: 1_700, session: 's1', type, data }) as CastEvent;

const called = {
  role: 'assistant',
  origin: 'model',
  blocks: [
    { type: 'reasoning', text: 'hm, ' },
    { type: 'reasoning', text: 'well' },
    { type: 'text', text: 'Look <tag>here</tag>.' },
    { type: 'call', id: 'c1', tool: 'read', arguments: '{"path":' },
  ],
} as const;
const ended = { turn: 1, steps: 2, toolCalls: 3, usage, durationMs: 40 };
const failure = { code: 'NOT_FOUND', retryable: false, suggestedFix: 'Look first.' };

const CASES: readonly (readonly [name: string, event: CastEvent, line: object | undefined])[] = [
  [
    'the session',
    event('session.opened', { cwd: '/p', root: '/p', model: 'm', tools: ['read'], resumed: true }),
    { type: 'session', cwd: '/p', model: 'm', version: '9', tools: ['read'] },
  ],
  ['visible text', event('text.delta', { text: 'a' }), { type: 'token', text: 'a' }],
  ['reasoning', event('reasoning.delta', { text: 'a' }), { type: 'thinking', text: 'a' }],
  ['text taken back', event('text.retracted', { chars: 3 }), { type: 'retract', chars: 3 }],
  [
    'a reply: what is visible, and arguments as they were written',
    event('reply.accepted', { message: called, visible: 'Look .' }),
    { type: 'assistant_message', content: 'Look .', thinking: 'hm, well', toolCalls: [{ id: 'c1', name: 'read', arguments: '{"path":' }] },
  ],
  [
    'a reply without reasoning',
    event('reply.accepted', { message: { role: 'assistant', origin: 'model', blocks: [] }, visible: 'x' }),
    { type: 'assistant_message', content: 'x', toolCalls: [] },
  ],
  ['a call', event('tool.started', { id: 'c1', tool: 'read', input: { path: 'a' } }), { type: 'tool_start', id: 'c1', name: 'read', args: { path: 'a' } }],
  ['a call that did not parse', event('tool.started', { id: 'c1', tool: 'read', input: '{"pa' }), { type: 'tool_start', id: 'c1', name: 'read', args: '{"pa' }],
  [
    'a failed result',
    event('tool.ended', { id: 'c1', tool: 'read', status: 'error', content: 'no', error: failure, durationMs: 5 }),
    { type: 'tool_end', id: 'c1', name: 'read', status: 'error', result: 'no', error: failure, durationMs: 5 },
  ],
  ['usage', event('usage', { usage, purpose: 'main', provider: 'p', model: 'm' }), { type: 'usage', usage, provider: 'p', model: 'm' }],
  [
    'estimated usage of a child',
    event('usage', { usage, purpose: 'main', provider: 'p', model: 'm', estimated: true, child: 'k' }),
    { type: 'usage', usage, provider: 'p', model: 'm', estimated: true, subagent: 'k' },
  ],
  ['a retry', event('retry', { attempt: 1, delayMs: 500, reason: 'busy' }), { type: 'retry', attempt: 1, delayMs: 500, reason: 'busy' }],
  [
    'a compaction',
    event('compacted', { messages: 9, tokensBefore: 100, tokensAfter: 10, reason: 'threshold', entry: 'e' }),
    { type: 'compaction', messagesCompacted: 9, tokensBefore: 100, tokensAfter: 10, trigger: 'threshold' },
  ],
  [
    'a compaction that did not come about',
    event('compaction.failed', { reason: 'overflow', why: 'no luck' }),
    { type: 'compaction_failed', reason: 'no luck', trigger: 'overflow' },
  ],
  [
    'a question and its answer',
    event('question.answered', { id: 'q', choice: 'reject', by: 'nobody', rules: [], tool: 'bash', text: 'May it?' }),
    { type: 'permission', id: 'q', tool: 'bash', question: 'May it?', answer: 'reject' },
  ],
  [
    'a fault',
    event('tap.fault', { plugin: 'p', hook: 'gate', label: 'l', message: 'boom', quarantined: true }),
    { type: 'plugin_fault', plugin: 'p', hook: 'gate', message: 'boom', quarantined: true },
  ],
  ['a notice', event('notice', { text: 'n', code: 'C' }), { type: 'notice', text: 'n', code: 'C' }],
  ['a warning', event('warning', { text: 'w' }), { type: 'warning', text: 'w' }],
  ['an error', event('error', { code: 'CUT_OFF', message: 'm', retryable: true }), { type: 'error', code: 'CUT_OFF', message: 'm', retryable: true }],
  ['the end', event('turn.ended', { ...ended, reason: 'limit', exitCode: 1 }), { type: 'end', reason: 'limit', exitCode: 1 }],
  ["a plugin's own", event('plugin', { plugin: 'p', name: 'n', data: { a: 1 } }), { type: 'plugin', plugin: 'p', name: 'n', data: { a: 1 } }],
  ['the beginning of a turn', event('turn.started', { turn: 1 }), undefined],
  ['progress', event('tool.progress', { id: 'c1', text: 'x' }), undefined],
  ['the close', event('session.closed', { reason: 'x' }), undefined],
];

describe('stream-json', () => {
  test.each(CASES)('%s', (_, given, line) => {
    expect(lineOf(given, '9')).toEqual(line && { timestamp: 1_700, sessionId: 's1', ...line });
  });

  test('type and number come first', () => {
    expect(numbered({ type: 'token', timestamp: 1, sessionId: 's', text: 'a' }, 12)).toBe('{"type":"token","seq":12,"timestamp":1,"sessionId":"s","text":"a"}');
  });

  test.each([
    ['Unicode line ends', 'a\u2028b\u2029c\u0085d'],
    ['half a character', 'a\ud83d'],
    ['control characters', 'a\u0000\u001b[31m\r\n'],
  ])('%s stay in one line and come back', (_, text) => {
    const line = jsonLine({ text });
    expect(line).not.toMatch(/[\r\n\u0085\u2028\u2029]|\p{Surrogate}/u);
    expect(JSON.parse(line)).toEqual({ text });
  });

  test('data that is no JSON does not end the run', () => {
    const round: Record<string, unknown> = {};
    round['self'] = round;
    expect(JSON.parse(jsonLine({ type: 'plugin', data: round }))).toEqual({ type: 'plugin', data: null, unprintable: true });
  });
});

describe('json', () => {
  const after = (...events: readonly CastEvent[]): RunResult => events.reduce(addToResult, emptyResult('/start'));

  test('a whole turn', () => {
    const result = after(
      event('session.opened', { cwd: '/p', root: '/p', model: 'm', tools: [], resumed: false }),
      event('reply.accepted', { message: called, visible: 'Looking.' }),
      event('tool.ended', { id: 'c1', tool: 'bash', status: 'denied', content: 'No.', durationMs: 1, denied: 'No.' }),
      event('tool.ended', { id: 'c2', tool: 'bash', status: 'ok', content: 'x', durationMs: 1 }),
      event('reply.accepted', { message: called, visible: 'Done.' }),
      event('turn.ended', { ...ended, reason: 'stop', exitCode: 0 }),
    );
    expect(result).toEqual({
      sessionId: 's1',
      cwd: '/p',
      model: 'm',
      result: 'Done.',
      error: null,
      reason: 'stop',
      turns: 1,
      steps: 2,
      toolCalls: 3,
      usage,
      durationMs: 40,
      permissionDenials: [{ id: 'c1', tool: 'bash', reason: 'No.' }],
    });
  });

  test('of several turns everything is added up', () => {
    const turn = event('turn.ended', { ...ended, usage: { ...usage, cost: 0.5 }, reason: 'stop', exitCode: 0 });
    expect(after(turn, turn)).toMatchObject({ turns: 2, steps: 4, toolCalls: 6, usage: { promptTokens: 14, totalTokens: 20, cost: 1 }, durationMs: 80 });
  });

  test('an aborted turn keeps what had come, and where the session went', () => {
    const result = after(
      event('workspace.moved', { from: '/p', to: '/q' }),
      event('reply.partial', { visible: 'half' }),
      event('turn.ended', { ...ended, reason: 'aborted', exitCode: 130 }),
    );
    expect(result).toMatchObject({ result: 'half', reason: 'aborted', error: null, cwd: '/q' });
  });

  test('a failed turn says why', () => {
    const error = { code: 'MODEL_AUTH', message: 'no', retryable: false };
    expect(after(event('error', error), event('turn.ended', { ...ended, reason: 'error', exitCode: 2 }))).toMatchObject({ error, reason: 'error', result: '' });
  });
});

describe('text', () => {
  test.each<readonly [CastEvent, string | undefined]>([
    [event('tool.started', { id: 'c', tool: 'bash', input: { command: 'npm\n test\u001b[2J' } }), '  bash npm test [2J'],
    [event('tool.started', { id: 'c', tool: 'grep', input: { pattern: 'x', path: 'src' } }), '  grep x src'],
    [event('tool.started', { id: 'c', tool: 'todo', input: { items: [1] } }), '  todo {"items":[1]}'],
    [event('tool.started', { id: 'c', tool: 'ls', input: {} }), '  ls {}'],
    [event('tool.ended', { id: 'c', tool: 'bash', status: 'ok', content: 'secret output', durationMs: 1 }), undefined],
    [event('tool.ended', { id: 'c', tool: 'bash', status: 'error', content: 'Exit 1\nmore', durationMs: 1 }), '  bash failed: Exit 1 more'],
    [event('retry', { attempt: 2, delayMs: 1500, reason: 'busy' }), '  retry 2 in 1.5 s: busy'],
    [event('retry', { attempt: 1, delayMs: 0, reason: 'another model' }), '  retry 1 at once: another model'],
    [event('error', { code: 'CUT_OFF', message: 'It broke.', retryable: true, suggestedFix: 'Again.' }), 'cast: It broke.\n      Again.'],
    [event('text.delta', { text: 'x' }), undefined],
  ])('%#', (given, remark) => {
    expect(remarkOn(given)).toBe(remark);
  });
});
