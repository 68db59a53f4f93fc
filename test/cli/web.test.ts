/** The web tools in the command as it is shipped: their threads and libraries are found there as well. */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { call, say } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf } from './program.ts';

const command = useCommand();

const listen = async (handle: RequestListener): Promise<string> => {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  command.later(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const serve = (body: Buffer, type: string): Promise<string> => listen((_request, reply) => reply.writeHead(200, { 'content-type': type }).end(body));
const results = (outcome: Parameters<typeof linesOf>[0]): readonly unknown[] =>
  linesOf(outcome).flatMap((line) => (line.type === 'tool_end' ? [line['result']] : []));

test('a page becomes Markdown in a thread of its own, in the charset that it declares', async () => {
  const html = '<title>Caf\xe9</title><script>no</script><h2>\x93Prices\x94</h2><table><tr><th>Tea<td>2 \x80</table><p><a href="/menu">All</a></p>';
  const host = await serve(Buffer.from(html, 'latin1'), 'text/html; charset=iso-8859-1');
  const provider = await command.provide(call('web_fetch', { url: `http://${host}/` }), say('done'));
  const place = command.project({ '~/settings.json': JSON.stringify({ plugins: { web: { allow: [host] } } }) });
  const outcome = await command.cast(['run', '--format', 'stream-json', 'read it'], { provider, place });
  expect(outcome.code, outcome.stderr).toBe(0);
  const [result] = results(outcome);
  expect(result).toContain('\nTitle: Café\n');
  expect(result).toContain(`## “Prices”\n\n| Tea | 2 € |\n| --- | --- |\n\n[All](http://${host}/menu)`);
});

test('a search is read there as well', async () => {
  const found =
    '<div class="result results_links web-result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa">A &amp; B</a></div>';
  const host = await serve(Buffer.from(found), 'text/html');
  const provider = await command.provide(call('web_search', { query: 'a' }), say('done'));
  const place = command.project({ '~/settings.json': JSON.stringify({ plugins: { web: { endpoints: { ddg: `http://${host}/html` } } } }) });
  const outcome = await command.cast(['run', '--format', 'stream-json', 'search it'], { provider, place });
  expect(results(outcome)).toEqual([expect.stringContaining('\n\n1. A & B\n   https://example.org/a')]);
});

test('switched off for a project, the tools are not there', async () => {
  const provider = await command.provide(say('done'));
  const place = command.project({ '.cast/settings.json': JSON.stringify({ plugins: { web: false } }) });
  const outcome = await command.cast(['run', '--trust', '--format', 'stream-json', 'hello'], { provider, place });
  const tools = linesOf(outcome)[0]?.['tools'];
  expect(tools).toContain('read');
  expect(tools).not.toContain('web_fetch');
  expect(tools).not.toContain('web_search');
});

describe('B038: whatever a server sends, the command stays small', () => {
  const TEXT = { 'content-type': 'text/plain; charset=utf-8' };
  /** Sends until the other side has had enough. */
  const endless = (reply: ServerResponse, sent: { bytes: number }): void => {
    const chunk = Buffer.from(`${'x'.repeat(99)}\n`.repeat(655));
    const more = (): void => {
      while (!reply.destroyed && sent.bytes < 500_000_000) {
        sent.bytes += chunk.length;
        if (!reply.write(chunk)) return void reply.once('drain', more);
      }
      reply.end();
    };
    more();
  };
  const bomb = (): Buffer => {
    const member = gzipSync(Buffer.alloc(10_000_000, 'bomb '));
    return Buffer.concat(Array.from({ length: 50 }, () => member));
  };
  const sent = { bytes: 0 };
  const variants: readonly (readonly [string, (reply: ServerResponse) => unknown, RegExp])[] = [
    [
      '500 MB in chunks',
      (reply) => endless(reply.writeHead(200, TEXT), sent),
      /Truncated: 1[12]\d{3} of 5242880 characters.*\n\n.*longer than what is ever read/,
    ],
    ['a PDF', (reply) => reply.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7'), /is application\/pdf, which is no text/],
    ['a gzip bomb', (reply) => reply.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(bomb()), /longer than what is ever read/],
    ['text without a content type', (reply) => reply.writeHead(200).end('only text'), /\n\nonly text$/],
    [
      'a Latin-1 page',
      (reply) => reply.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from('<p>caf\xe9', 'latin1')),
      /\n\ncafé$/,
    ],
  ];

  test.each(variants)('B038: %s', async (_name, send, expected) => {
    const host = await listen((_request, reply) => void send(reply));
    const provider = await command.provide(call('web_fetch', { url: `http://${host}/` }), say('done'));
    const place = command.project({
      '~/settings.json': JSON.stringify({ plugins: { web: { allow: [host] } } }),
      'peak.cjs': "process.on('exit', () => require('fs').writeFileSync(__dirname + '/peak', String(process.resourceUsage().maxRSS)));",
    });
    const node = ['--require', join(place.cwd, 'peak.cjs')];
    const outcome = await command.cast(['run', '--format', 'stream-json', 'read it'], { provider, place, node });
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(results(outcome)).toEqual([expect.stringMatching(expected)]);
    // Kibibytes. The command alone has about 100,000.
    expect(Number(readFileSync(join(place.cwd, 'peak'), 'utf8'))).toBeLessThan(400_000);
    expect(sent.bytes).toBeLessThan(100_000_000);
  });
});
