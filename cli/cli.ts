/** Where the command begins. The version is answered before anything else is loaded. */
import { packageVersion } from './package.ts';

const argv = process.argv.slice(2);

const start = async (): Promise<void> => {
  const { useCodeCache } = await import('./code-cache.ts');
  useCodeCache(process.env);
  const { main } = await import('./main.ts');
  await main(argv);
};

if (argv[0] === '--version' || argv[0] === '-v') {
  process.stdout.on('error', () => undefined);
  process.stdout.write(`cast v${packageVersion()}\n`);
} else {
  void start();
}
