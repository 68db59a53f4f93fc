/** Servers and watchers that are known to run until somebody ends them: nobody waits for these. */
import type { ShellPart } from '../../kernel/index.ts';

const DEVELOPMENT = /^(dev|watch|serve)(:|$)/;
/** Options of package managers that take the next word. */
const TAKES_NEXT = new Set(['-C', '--dir', '--cwd', '--prefix', '-F', '--filter', '-w', '--workspace']);
const RUNS_OTHERS = new Set(['npx', 'bunx', 'pnpx']);
const MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun']);

/** False also for what could not be understood. */
export const isLongRunner = (command: string, parts: readonly ShellPart[] | undefined): boolean => {
  if (!parts) return false;
  // Under `timeout` it ends by itself.
  const limited = parts.filter(({ words }) => /^g?timeout$/.test(nameOf(words)));
  const isFree = (part: ShellPart): boolean => !part.nested && !limited.some(({ source }) => source.includes(part.source));
  return isEndlessLoop(command, parts) || parts.some((part) => isFree(part) && runsOn(part.words) && !isLeftBehind(command, part));
};

/** `server > log 2>&1 &`: the shell does not wait for it. */
const isLeftBehind = (command: string, { source }: ShellPart): boolean => {
  const rest = command.slice(command.indexOf(source) + source.length);
  return /^(?:\s*\d*>{1,2}&?\s*[^\s&;|]+)*\s*&(?![&>])/.test(rest);
};

/** The loop itself is no simple command: only its condition is one, and what could leave it. */
const isEndlessLoop = (command: string, parts: readonly ShellPart[]): boolean => {
  const names = parts.map(({ words }) => nameOf(words));
  const mayLeave = names.some((name) => name === 'break' || name === 'exit' || name === 'return');
  return /(?:^|[;&|({\n]|\bdo|\bthen)\s*while\s+(?:true|:)\s*[;\n]/.test(command) && (names.includes('true') || names.includes(':')) && !mayLeave;
};

const nameOf = ([first = '']: readonly string[]): string => first.slice(first.lastIndexOf('/') + 1).toLowerCase();

const runsOn = (words: readonly string[]): boolean => {
  const name = nameOf(words);
  const args = words.slice(1);
  if (RUNS_OTHERS.has(name)) return runsOn(behindOptions(args));
  if (MANAGERS.has(name)) return isDevelopmentScript(args);
  if (/^python[\d.]*$/.test(name)) return args.includes('-m') && args[args.indexOf('-m') + 1] === 'http.server';
  switch (name) {
    case 'nodemon':
    case 'webpack-dev-server':
      return true;
    case 'vite':
    case 'next':
    case 'astro':
      return isDevelopmentServer(name, args);
    case 'cargo':
      return args[0] === 'watch';
    case 'docker':
    case 'podman':
      return isCompose(args[0] === 'compose' ? args.slice(1) : args) || args[0] === 'watch';
    case 'docker-compose':
    case 'podman-compose':
      return isCompose(args);
    case 'tail':
    case 'journalctl':
      return args.some((arg) => /^--follow(=|$)/.test(arg) || /^-[a-z\d]*f/i.test(arg));
    case 'sleep':
      return args.some((arg) => /^(infinity|inf|\d{4,}[a-z]?)$/i.test(arg));
    default:
      return false;
  }
};

/** `yarn workspace web run dev`, `npm --prefix web run dev`, `pnpm exec vite`. */
const isDevelopmentScript = (args: readonly string[]): boolean => {
  const [first = '', ...rest] = behindOptions(args);
  if (first === 'workspace') return isDevelopmentScript(rest.slice(1));
  if (first === 'exec' || first === 'dlx' || first === 'x') return runsOn(behindOptions(rest));
  const script = first === 'run' || first === 'run-script' ? behindOptions(rest)[0] : first;
  return DEVELOPMENT.test(script ?? '') || runsOn([first, ...rest]);
};

const behindOptions = (args: readonly string[]): readonly string[] => {
  const [first, ...rest] = args;
  if (first === undefined || !first.startsWith('-')) return args;
  return behindOptions(TAKES_NEXT.has(first) ? rest.slice(1) : rest);
};

const isDevelopmentServer = (name: string, args: readonly string[]): boolean => {
  const command = args.find((arg) => !arg.startsWith('-'));
  if (args.some((arg) => /^(--help|--version|-h|-v)$/.test(arg))) return false;
  return command === undefined ? name === 'vite' || args.length > 0 : /^(dev|start|serve|preview)$/.test(command);
};

const isCompose = (args: readonly string[]): boolean =>
  (args.includes('up') && !args.includes('-d') && !args.includes('--detach') && !args.includes('--wait')) || behindOptions(args)[0] === 'watch';
