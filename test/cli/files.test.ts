/** The file tools in the command as it is installed: what they load late is found, and two commands do not overwrite each other's work. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { noise, opened, png } from '../plugins/files/pixels.ts';
import { call, type Received, say } from '../provider.ts';
import { useCommand } from './command.ts';

const { cast, provide, respond, project } = useCommand();

/** What the newest tool message says. */
const lastResult = ({ body }: Received): string => String(body.messages.findLast(({ role }) => role === 'tool')?.content);

test('a large image is scaled down on its way to the model', async () => {
  const place = project();
  const random = noise(256);
  writeFileSync(join(place.cwd, 'a.png'), png({ width: 1700, height: 400, colorAt: () => [random(), 0, 0, 255] }));
  const provider = await provide(call('read', { path: 'a.png' }), say('done'));
  expect(await cast(['run', 'go'], { place, provider })).toMatchObject({ code: 0 });
  const [second] = provider.requests.slice(1);
  expect(second && lastResult(second)).toMatch(/^Image a\.png \(image\/jpeg, \d+ bytes; scaled down from 1700x400 to 1568x369\)$/);
  const [, data = ''] = /"data:image\/jpeg;base64,([^"]+)"/.exec(JSON.stringify(second?.body)) ?? [];
  expect([opened(data).width, opened(data).height]).toEqual([1568, 369]);
});

test('a file in GBK is read and edited', async () => {
  const place = project();
  const text = '# 这个函数返回用户的名称，如果没有找到就返回空值。\nvalue = 1\n';
  writeFileSync(join(place.cwd, 'a.py'), iconv.encode(text, 'gbk'));
  const provider = await provide(call('read', { path: 'a.py' }), call('edit', { filePath: 'a.py', oldString: '用户', newString: '客户' }), say('done'));
  expect(await cast(['run', 'go'], { place, provider })).toMatchObject({ code: 0 });
  expect(provider.requests.slice(1, 2).map(lastResult)).toEqual(['1: # 这个函数返回用户的名称，如果没有找到就返回空值。\n2: value = 1']);
  expect(readFileSync(join(place.cwd, 'a.py')).equals(iconv.encode(text.replace('用户', '客户'), 'gbk'))).toBe(true);
});

test.each([
  [
    'a write of all of it is refused',
    'write',
    { path: 'f.txt', content: 'mine\n' },
    'one\ntwo\nadded by another agent\n',
    'has changed on disk since it was last read',
  ],
  ['an edit of another line keeps it', 'edit', { filePath: 'f.txt', oldString: 'one', newString: '1' }, '1\ntwo\nadded by another agent\n', 'Edit applied'],
])('B029: what another agent in a process of its own has written meanwhile: %s', async (_name, tool, input, after, says) => {
  const place = project({ 'f.txt': 'one\ntwo\n' });
  const other = await provide(
    call('read', { path: 'f.txt' }),
    call('edit', { filePath: 'f.txt', oldString: 'two\n', newString: 'two\nadded by another agent\n' }),
    say('done'),
  );
  const provider = await respond(async (_request, number) => {
    if (number === 1) return call('read', { path: 'f.txt' });
    if (number > 2) return say('done');
    expect((await cast(['run', 'go'], { place, provider: other })).code).toBe(0);
    expect(readFileSync(join(place.cwd, 'f.txt'), 'utf8')).toContain('added by another agent');
    return call(tool, input);
  });
  expect(await cast(['run', 'go'], { place, provider })).toMatchObject({ code: 0 });
  expect(provider.requests.slice(2).map(lastResult)).toEqual([expect.stringContaining(says)]);
  expect(readFileSync(join(place.cwd, 'f.txt'), 'utf8')).toBe(after);
});
