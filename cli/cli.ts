/** Where the command begins. The version is answered before anything else is loaded. */
import { packageVersion } from './package.ts';

const argv = process.argv.slice(2);

if (argv[0] === '--version' || argv[0] === '-v') {
  process.stdout.on('error', () => undefined);
  process.stdout.write(`cast v${packageVersion()}\n`);
} else {
  void import('./main.ts').then(({ main }) => main(argv));
}
