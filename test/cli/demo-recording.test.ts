/** The recording of `cast demo` is one like any other: made by the recorder, and replayed the same. */
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { builtins } from '../../cli/builtins.ts';
import { newSeededIds } from '../../cli/replaying.ts';
import { createKernel } from '../../kernel/host/kernel.ts';
import { followEvents } from '../../kernel/testkit/event-log.ts';
import { readWholeRecording } from '../../plugins/replay/recording.ts';
import { useCommand } from './command.ts';

const { cast, project } = useCommand();
const DEMO = fileURLToPath(new URL('../../cli/demo', import.meta.url));
const FILE = join(DEMO, 'recording.json');
const PROMPT = 'A test fails. Find out why, and mend it.';

/** Plays the present replies in the demo's own project, and writes down what comes of it. */
const recordAgain = async (): Promise<void> => {
  const folder = join(realpathSync(tmpdir()), 'cast-demo');
  rmSync(folder, { recursive: true, force: true });
  const [cwd, made] = [join(folder, 'project'), join(folder, 'made.json')];
  mkdirSync(folder);
  cpSync(join(DEMO, 'project'), cwd, { recursive: true });
  const kernel = createKernel({ home: join(folder, 'home'), version: '0.0.0', builtins, ids: newSeededIds() });
  const session = await kernel.open({
    cwd,
    root: cwd,
    environment: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder },
    interactive: false,
    layers: [{ name: 'flags', data: { provider: 'replay', model: 'recorded', plugins: { replay: { file: FILE, record: made } } } }],
    plugins: [],
  });
  const log = followEvents(session.client, undefined);
  const ended = log.until('turn.ended');
  await session.client.submit({ text: PROMPT, clientId: 'demo' });
  expect(await ended).toMatchObject({ reason: 'stop' });
  await session.close('recorded');
  await kernel.shutdown('recorded');
  const { about } = await readWholeRecording(FILE).catch(() => JSON.parse(readFileSync(FILE, 'utf8')) as { about?: string });
  const { version, ...rest } = JSON.parse(readFileSync(made, 'utf8')) as Record<string, unknown>;
  writeFileSync(FILE, `${JSON.stringify({ version, about, ...rest }, null, 1)}\n`);
  rmSync(folder, { recursive: true });
};

// When a plugin is meant to act otherwise now: UPDATE_DEMO=1 npx vitest run test/cli/demo-recording.test.ts
test.runIf(process.env['UPDATE_DEMO'])('the demo is recorded again', recordAgain, 60_000);

test('the demo replays the same against the plugins as they are', async () => {
  const replay = await cast(['replay', FILE], { place: project() });
  expect(replay).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The same: \d+ outcomes in 1 turn\.\n/) });
});
