/** The tools in a session: what gates, rules and the loop make of them. */
import { describe, expect, test } from 'vitest';
import { definePlugin } from 'cast';
import { createTestSession, say, use, type TestSession, type TestSessionOptions } from 'cast/testkit';
import permissions from '../../../plugins/permissions/index.ts';
import web from '../../../plugins/web/index.ts';
import { page, serve, type Site } from './desk.ts';

const open = (url: string, allow: readonly string[], more: TestSessionOptions = {}): Promise<TestSession> =>
  createTestSession({ plugins: { web: web.with({ allow }), permissions } as never, script: [use('web_fetch', { url }), say('done')], ...more });
const redirecting = (to: () => string): Promise<Site> => serve((_request, reply) => reply.writeHead(302, { location: to() }).end());
/** Another host by its name, the same server. */
const byName = ({ port }: Site): string => `http://localhost:${port}/`;

test('is there without being asked for, and refuses what is not public', async () => {
  const site = await page('inside');
  await using session = await open(site.url, []);
  await session.run('go');
  expect(session.requests[0]?.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['web_fetch', 'web_search']));
  expect(session.results()).toMatchObject([{ tool: 'web_fetch', status: 'error', error: { code: 'PERMISSION_DENIED' } }]);
  expect(site.came).toEqual([]);
});

test('a page is told with its view; nobody is asked, in whatever mode', async () => {
  const site = await page('<title>T</title><p>hello');
  await using session = await open(site.url, [site.host], { config: { permissions: { mode: 'ask' } } });
  await session.run('go');
  expect(session.results()).toMatchObject([{ status: 'ok', content: expect.stringContaining('hello') }]);
  expect(session.events('tool.ended')).toMatchObject([{ status: 'ok', view: { kind: 'markdown', text: 'hello' } }]);
  expect(session.events('question.asked')).toEqual([]);
});

describe('a rule that denies a domain', () => {
  const deny = (domain: string): TestSessionOptions => ({ config: { permissions: { deny: [`web_fetch(domain:${domain})`] } } });

  test.each([['localhost'], ['LOCALHOST.']])('holds for %s', async (host) => {
    const site = await page('forbidden');
    await using session = await open(`http://${host}:${site.port}/`, [`localhost:${site.port}`], deny('localhost'));
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'denied', error: { code: 'PERMISSION_DENIED' } }]);
    expect(site.came).toEqual([]);
  });

  test('holds where a redirect leads, and is listed as a denial', async () => {
    const inner = await page('forbidden');
    const outer = await redirecting(() => byName(inner));
    await using session = await open(outer.url, [outer.host, `localhost:${inner.port}`], deny('localhost'));
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'denied', content: expect.stringContaining('web_fetch(domain:localhost)') }]);
    expect(session.events('tool.ended')).toMatchObject([{ status: 'denied', denied: expect.any(String) }]);
    expect([outer.came.length, inner.came.length]).toEqual([1, 0]);
  });

  test('lets pass what it does not name', async () => {
    const inner = await page('<p>welcome');
    const outer = await redirecting(() => byName(inner));
    await using session = await open(outer.url, [outer.host, `localhost:${inner.port}`], deny('other.example'));
    await session.run('go');
    expect(session.results()).toMatchObject([{ status: 'ok', content: expect.stringMatching(/^URL: http:\/\/localhost:\d+\/\n[^]*welcome$/) }]);
  });
});

test('a gate of anybody sees each place on the way, with the rest of the input', async () => {
  const seen: unknown[] = [];
  const gate = definePlugin({
    name: 'gate',
    apply: ({ hooks }) => hooks.gate.tap('watch', { when: { tool: 'web_fetch' } }, ({ input }) => void seen.push(input)),
  });
  const site: Site = await serve((request, reply) => {
    if (request.url === '/') return void reply.writeHead(301, { location: '/next' }).end();
    reply.writeHead(200, { 'content-type': 'text/plain' }).end('end');
  });
  const script = [use('web_fetch', { url: site.url, maxChars: 50 }), say('done')];
  await using session = await open(site.url, [site.host], { plugins: { web: web.with({ allow: [site.host] }), gate } as never, script });
  await session.run('go');
  expect(seen).toEqual([
    { url: site.url, maxChars: 50 },
    { url: `${site.url}/next`, maxChars: 50 },
  ]);
});

test('calls that stand side by side overlap', async () => {
  const waiting: (() => void)[] = [];
  const site = await serve((_request, reply) => {
    waiting.push(() => reply.writeHead(200, { 'content-type': 'text/plain' }).end('x'));
    // Answered once all three are there.
    if (waiting.length === 3) for (const go of waiting) go();
  });
  const calls = ['a', 'b', 'c'].map((path) => ['web_fetch', { url: `${site.url}/${path}` }] as const);
  await using session = await open(site.url, [site.host], { script: [use(...calls), say('done')] });
  await session.run('go');
  expect(session.results().map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
});

test('arguments with a raw line break are mended', async () => {
  const site = await page('x', { 'content-type': 'text/plain' });
  await using session = await open(site.url, [site.host], { script: [use('web_fetch', `{"url": "${site.url}/a\n"}`), say('done')] });
  await session.run('go');
  expect(session.results()).toMatchObject([{ status: 'ok' }]);
});

test('a turn that is stopped leaves no connection', async () => {
  const site = await serve(() => undefined);
  await using session = await open(site.url, [site.host]);
  const end = session.run('go');
  await expect.poll(() => site.came.length).toBe(1);
  await session.client.abort('enough');
  expect((await end).reason).toBe('aborted');
  expect(session.events('tool.ended')).toMatchObject([{ status: 'aborted' }]);
  await expect.poll(() => site.open()).toBe(0);
});
