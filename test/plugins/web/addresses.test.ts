import { describe, expect, test } from 'vitest';
import { isAllowed, permitFor, refusedHost } from '../../../plugins/web/addresses.ts';
import { openDesk, page, serve } from './desk.ts';

describe('nothing is sent', () => {
  test.each([
    ['file:///etc/passwd', /file: addresses/],
    ['ftp://example.org/', /ftp: addresses/],
    ['javascript:alert(1)', /javascript: addresses/],
    ['example.org/page', /not a web address/],
    ['http://', /not a web address/],
    ['https://me:secret@example.org/', /user name or a password/],
  ])('to %s', async (url, said) => {
    const desk = await openDesk({}, { environment: { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' } });
    const result = await desk.fetch({ url });
    expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' }, content: expect.stringMatching(said) });
    expect(result.content).not.toContain('secret');
  });

  test.each([
    'localhost',
    '127.0.0.1',
    '[::1]',
    '0.0.0.0',
    '[::]',
    '2130706433',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '169.254.169.254',
    '100.64.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
  ])('to %s, whatever answers there', async (host) => {
    const site = await page('inside');
    const desk = await openDesk();
    const result = await desk.fetch({ url: `http://${host}:${site.port}/` });
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'PERMISSION_DENIED', retryable: false, suggestedFix: expect.stringContaining('plugins.web.allow') },
    });
    expect(site.came).toEqual([]);
  });

  test.each(['printer.local', 'metadata.google.internal', 'a.localhost', 'router.home.arpa', 'wiki', 'printer.local.'])(
    'to %s, whose name is of a private network, not by a proxy either',
    async (host) => {
      const proxy = await page('inside');
      const desk = await openDesk({}, { environment: { HTTP_PROXY: proxy.url } });
      expect(await desk.fetch({ url: `http://${host}/` })).toMatchObject({ status: 'error', error: { code: 'PERMISSION_DENIED' } });
      expect(proxy.came).toEqual([]);
    },
  );
});

test('public addresses may be fetched, and those behind a gateway for IPv4', () => {
  const permit = permitFor([]);
  for (const ip of ['93.184.216.34', '8.8.8.8', '2606:4700::1', '64:ff9b::808:808']) expect(permit({ host: 'example.org', port: 443, ip })).toBeUndefined();
  expect(permit({ host: 'example.org', port: 443, ip: undefined })).toBeUndefined();
  expect(permit({ host: 'example.org', port: 443, ip: 'nonsense' })).toBeDefined();
  expect(permit({ host: 'example.org', port: 443, ip: '10.0.0.1' })).toBe('example.org leads to 10.0.0.1, which is an address of a private network');
});

describe('what the configuration allows', () => {
  test.each([
    ['wiki.internal', 'wiki.internal', 8080, true],
    ['Wiki.Internal', 'wiki.internal', 443, true],
    ['wiki.internal:8080', 'wiki.internal', 8080, true],
    ['wiki.internal:8080', 'wiki.internal', 8081, false],
    ['wiki.internal', 'evil.wiki.internal', 80, false],
    ['wiki.internal', 'wiki.internal.', 80, true],
    ['127.0.0.1', '127.0.0.1', 1, true],
    ['0x7f.1', '127.0.0.1', 1, true],
    ['[::1]:3000', '::1', 3000, true],
    ['[::1]:3000', '::1', 3001, false],
    ['[0:0:0:0:0:0:0:1]', '[::1]', 3001, true],
  ])('%s covers %s with port %s: %s', (entry, host, port, expected) => expect(isAllowed([entry], host, port)).toBe(expected));

  test('is fetched; the port beside it is not', async () => {
    const [open, closed] = [await page('<p>open'), await page('<p>closed')];
    const desk = await openDesk({ allow: [open.host] });
    expect((await desk.fetch({ url: open.url })).content).toContain('open');
    expect(await desk.fetch({ url: closed.url })).toMatchObject({ error: { code: 'PERMISSION_DENIED' } });
    expect(closed.came).toEqual([]);
  });

  test.each(['http://wiki.internal', 'a b', 'me@host', 'host/path', '::1'])('%s is no entry', async (entry) => {
    await expect(openDesk({ allow: [entry] })).rejects.toThrow();
  });

  test('by its name alone, where somebody else connects', () => {
    expect(refusedHost(new URL('http://10.0.0.1/'))).toMatch('private');
    expect(refusedHost(new URL('http://[::1]/'))).toMatch('this machine');
    expect(refusedHost(new URL('http://wiki/'))).toMatch('private');
    expect(refusedHost(new URL('https://example.org/'))).toBeUndefined();
  });
});

describe('a redirect', () => {
  test('from an allowed place to one that is not is refused', async () => {
    const inner = await page('secret');
    const outer = await serve((_request, reply) => reply.writeHead(302, { location: `${inner.url}/latest/meta-data` }).end());
    const result = await (await openDesk({ allow: [outer.host] })).fetch({ url: outer.url });
    expect(result).toMatchObject({ status: 'error', error: { code: 'PERMISSION_DENIED' } });
    expect(inner.came).toEqual([]);
  });

  test.each([
    ['file:///etc/passwd', 'INVALID_ARGUMENT'],
    ['http://me:pw@example.org/', 'INVALID_ARGUMENT'],
    ['http://169.254.169.254/latest', 'PERMISSION_DENIED'],
    ['http://[::ffff:10.0.0.1]/', 'PERMISSION_DENIED'],
  ])('to %s is refused', async (location, code) => {
    const site = await serve((_request, reply) => reply.writeHead(301, { location }).end());
    expect(await (await openDesk({ allow: [site.host] })).fetch({ url: site.url })).toMatchObject({ status: 'error', error: { code } });
  });

  test('is followed five times, and what is told is where it led', async () => {
    const site = await serve((request, reply) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) return void reply.writeHead(200, { 'content-type': 'text/plain' }).end('at last');
      reply.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const desk = await openDesk({ allow: [site.host] });
    expect((await desk.fetch({ url: `${site.url}/5` })).content).toMatch(new RegExp(`^URL: ${site.url}/0\\n[^]*at last$`));
    expect(await desk.fetch({ url: `${site.url}/6` })).toMatchObject({ status: 'error', content: expect.stringContaining('more than 5 redirects') });
  });

  test('carries nothing of the user', async () => {
    const site = await serve((_request, reply) => reply.writeHead(200, { 'set-cookie': 'id=1' }).end('x'));
    const desk = await openDesk({ allow: [site.host] }, { secrets: { JINA_API_KEY: 'k', CAST_API_KEY: 'k' } });
    for (let i = 0; i < 2; i++) await desk.fetch({ url: site.url });
    for (const { headers } of site.came) {
      expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'accept-language', 'connection', 'host', 'user-agent']);
    }
  });
});
