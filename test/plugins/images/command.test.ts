/** The command with images that its provider does not take, or not so many of. */
import { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, type Received, say } from '../../provider.ts';
import { useCommand } from '../../cli/command.ts';
import { linesOf, type Place, streamFaults } from '../../cli/program.ts';

const { cast, project, respond } = useCommand();

/** Of a PNG of 64 by 64 pixels. */
const HEAD = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x40\0\0\0\x40\x08\x02\0\0\0', 'latin1');
const withPictures = (count: number, bytes: number): Place => {
  const place = project();
  for (let index = 1; index <= count; index++) writeFileSync(join(place.cwd, `${index}.png`), Buffer.concat([HEAD, Buffer.alloc(bytes, index)]));
  return place;
};
const isPart = (part: { readonly type: string }): boolean => part.type === 'image_url';
const imagesIn = ({ body }: Received): number =>
  body.messages.reduce((sum, { content }) => sum + (Array.isArray(content) ? content.filter(isPart).length : 0), 0);
const textIn = ({ body }: Received | { readonly body: Received['body'] }): string =>
  JSON.stringify(body.messages.filter(({ content }) => typeof content === 'string'));

test('many images push a request over the limit of a proxy: the oldest are left out, and the turn goes on', async () => {
  const [count, bytes, limit] = [40, 64 * 1024, 1.25 * 1024 * 1024];
  const place = withPictures(count, bytes);
  let read = 0;
  const provider = await respond((request) => {
    if (request.bytes > limit)
      return { status: 413, page: '<html><head><title>413 Request Entity Too Large</title></head><body><h1>413</h1><hr>nginx</body></html>' };
    read += 1;
    return read <= count ? call('read', { path: `${read}.png` }) : say('seen them all');
  });
  const outcome = await cast(['run', '--format', 'stream-json', 'look at all of them'], { place, provider });
  expect([outcome.code, streamFaults(outcome), linesOf(outcome).at(-1)]).toMatchObject([0, [], { type: 'end', reason: 'stop' }]);

  const refused = provider.requests.filter((request) => request.bytes > limit);
  expect(refused.length).toBeGreaterThan(1);
  expect(refused.length).toBeLessThan(8);
  for (const request of refused) {
    const next = provider.requests[provider.requests.indexOf(request) + 1];
    expect(next?.bytes).toBeLessThan(limit);
    expect(next && imagesIn(next)).toBeGreaterThanOrEqual(Math.floor(imagesIn(request) / 2) - 1);
  }
  const last = provider.requests.at(-1);
  expect(last && textIn(last)).toContain('Images were left out here');
  // The newest is among those that are still there.
  expect(JSON.stringify(last?.body.messages.at(-1))).toContain('image_url');
  expect(linesOf(outcome).filter(({ code }) => code === 'IMAGES_DROPPED')).toHaveLength(refused.length);

  const again = await respond(() => say('yes'));
  expect((await cast(['run', '-c', 'and?'], { place, provider: again })).code).toBe(0);
  expect(again.requests[0] && imagesIn(again.requests[0])).toBe(last && imagesIn(last));
}, 60_000);

test('a model that takes no images is asked once with them, and not again', async () => {
  const place = withPictures(1, 1024);
  const provider = await respond((request, number) => {
    if (imagesIn(request) > 0) return { status: 400, error: 'image input is not supported by this model' };
    return number === 1 || number === 4 ? call('read', { path: '1.png' }) : say('I cannot see it');
  });
  const outcome = await cast(['run', '--format', 'stream-json', 'look'], { place, provider });
  expect(linesOf(outcome).at(-1)).toMatchObject({ type: 'end', reason: 'stop', exitCode: 0 });
  expect(provider.requests.map(imagesIn)).toEqual([0, 1, 0]);
  expect(linesOf(outcome).filter(({ type }) => type === 'warning')).toMatchObject([{ code: 'IMAGES_NOT_TAKEN' }]);
  expect((await cast(['run', '-c', 'and now?'], { place, provider })).code).toBe(0);
  // Another process does not know the model, and is refused once more for a new image.
  expect(provider.requests.slice(3).map(imagesIn)).toEqual([0, 1, 0]);
});
