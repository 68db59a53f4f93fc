/** What others may import, by name; and that the declarations that ship are what a plugin's author needs. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { DIST, ROOT } from './sources.ts';

const FACES = { cast: 'cli/index.ts', 'cast/kernel': 'kernel/index.ts', 'cast/testkit': 'kernel/testkit/index.ts' };

const publicNames = async (): Promise<string> => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(
    Object.values(FACES).map((file) => join(ROOT, file)),
    options,
  );
  const checker = program.getTypeChecker();
  const section = async (name: string, file: string): Promise<string> => {
    const values = Object.keys((await import(pathToFileURL(join(ROOT, file)).href)) as object);
    const source = program.getSourceFile(join(ROOT, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${file} is no module`);
    const lines = checker.getExportsOfModule(module).map(({ name: exported }) => `${exported} ${values.includes(exported) ? 'value' : 'type'}`);
    return [`# ${name}`, ...lines.sort()].join('\n');
  };
  const sections = await Promise.all(Object.entries(FACES).map(([name, file]) => section(name, file)));
  return `${sections.join('\n\n')}\n`;
};

// A name that is gone breaks plugins. After a change on purpose: vitest run test/architecture/face.test.ts -u
test('the exported names are the ones that were promised', async () => {
  await expect(await publicNames()).toMatchFileSnapshot('./public-face.txt');
}, 120_000);

const PLUGIN = `
import { defineConfig, definePlugin, z } from 'cast';
import { createTestSession, say } from 'cast/testkit';

declare module 'cast/kernel' {
  interface ToolInputs { first: { level: number } }
  interface Services { counter: { next(): number } }
}
declare module 'cast' {
  interface ToolInputs { second: { level: number } }
}

const plugin = definePlugin({
  name: 'mine',
  uses: ['counter?'],
  capabilities: ['fs'],
  options: z.object({ size: z.number().default(1) }),
  apply({ hooks, options, powers, services }) {
    const canonical: Promise<string> = powers.fs.canonical('.', '/');
    hooks.gate.tap('first', { when: { tool: 'first' } }, ({ input }) => (input.level + options.size > 3 ? { deny: 'too much' } : undefined));
    hooks.gate.tap('second', { when: { tool: 'second' } }, ({ input }) => void input.level.toFixed());
    hooks.gate.tap('known', { when: { tool: 'bash' } }, ({ input }) => void [input.command.trim(), canonical, services.find('counter')?.next()]);
  },
});
export default defineConfig({ plugins: { mine: plugin.with({ size: 2 }) } });
export const session = createTestSession({ plugins: [plugin], script: [say('done')] });
`;

test.skipIf(!existsSync(join(DIST, 'kernel.d.ts')))(
  'a strict third-party plugin compiles against the built declarations (npm run build comes first)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cast-face-'));
    try {
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(ROOT, join(folder, 'node_modules/cast'));
      symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
      const compilerOptions = { strict: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable'], types: ['node'], noEmit: true };
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['plugin.ts'] }));
      writeFileSync(join(folder, 'plugin.ts'), PLUGIN);
      const compile = (): string => spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' }).stdout;
      expect(compile()).toBe('');
      writeFileSync(join(folder, 'plugin.ts'), PLUGIN.replace("powers.fs.canonical('.', '/')", 'powers.net.fetch'));
      expect(compile()).toMatch(/plugin\.ts\(\d+,\d+\): error TS2339: Property 'net' does not exist/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
