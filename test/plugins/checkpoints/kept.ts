/** Opens the newest session of a folder as a later process would, and takes its last prompt back. */
import { builtins } from '../../../cli/builtins.ts';
import { createKernel } from '../../../kernel/host/kernel.ts';

export const undoNewest = async (home: string, cwd: string): Promise<string> => {
  const kernel = createKernel({ home, version: '0.0.0-test', builtins });
  try {
    const [record] = await (await kernel.store()).list({ cwd, limit: 1 });
    if (!record) throw new Error(`there is no session of ${cwd}`);
    const { client, close } = await kernel.open({
      cwd,
      root: cwd,
      interactive: false,
      environment: { PATH: process.env['PATH'], HOME: home },
      layers: [],
      plugins: [],
      session: { id: record.id },
    });
    const outcome = await client.command('undo', '');
    await close('test over');
    return JSON.stringify(outcome);
  } finally {
    await kernel.shutdown('test over');
  }
};
