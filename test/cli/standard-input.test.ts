import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { joinPrompt, readStandardInput } from '../../cli/standard-input.ts';

const WAITS = { firstByteMs: 60, noticeMs: 30 };
const never = new AbortController().signal;
const read = (stream: PassThrough, signal = never, told: string[] = []) => readStandardInput(stream, WAITS, (text) => told.push(text), signal);

test('everything up to the end, characters put together again', async () => {
  const stream = new PassThrough();
  const reading = read(stream);
  const bytes = Buffer.from('grüße 🙂');
  for (const byte of bytes) stream.write(Buffer.of(byte));
  stream.end();
  expect(await reading).toEqual({ text: 'grüße 🙂', isLate: false });
});

test('a pipe that gives nothing is left alone after a while, and the wait is told', async () => {
  const told: string[] = [];
  expect(await read(new PassThrough(), never, told)).toEqual({ text: '', isLate: true });
  expect(told).toHaveLength(1);
});

test('once something has come its end is waited for', async () => {
  const stream = new PassThrough();
  const reading = read(stream);
  stream.write('first ');
  setTimeout(() => stream.end('last'), WAITS.firstByteMs * 2);
  expect(await reading).toEqual({ text: 'first last', isLate: false });
});

test('too much is refused', async () => {
  const stream = new PassThrough({ highWaterMark: 32 * 1024 * 1024 });
  const reading = read(stream);
  stream.write(Buffer.alloc(10 * 1024 * 1024));
  stream.write('x');
  await expect(reading).rejects.toMatchObject({ code: 'INPUT_TOO_LARGE' });
});

test('an interrupt ends the wait', async () => {
  const controller = new AbortController();
  const reading = read(new PassThrough(), controller.signal);
  controller.abort(new Error('stop'));
  await expect(reading).rejects.toThrow('stop');
});

test('a stream that fails says so', async () => {
  const stream = new PassThrough();
  const reading = read(stream);
  stream.destroy(new Error('EISDIR'));
  await expect(reading).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringContaining('EISDIR') });
});

test.each([
  ['explain', '', 'explain'],
  ['', 'the prompt\n', 'the prompt\n'],
  ['explain', 'line\n', 'explain\n\n<stdin>\nline\n</stdin>'],
  ['explain', ' \n', 'explain'],
])('%j and %j', (prompt, input, joined) => {
  expect(joinPrompt(prompt, input)).toBe(joined);
});
