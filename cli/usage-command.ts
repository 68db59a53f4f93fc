/** `cast usage`: what all sessions have used. */
import { Command, Option } from 'clipanion';
import { systemClock } from '../kernel/host/clock.ts';
import { CastCommand, usageError, wholeNumber } from './arguments.ts';
import { endKernel, startKernel } from './processes.ts';
import { alignRows, count, oneLine } from './style.ts';
import { reportUsage, type Sum, type UsageReport } from './usage-report.ts';

const DAYS = '30';
/** Ten years: a date before that is a slip. */
const MAX_DAYS = 3_650;

export class UsageCommand extends CastCommand {
  static override paths = [['usage']];
  static override usage = Command.Usage({ description: 'Tokens and cost of all sessions, by day, model and project' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });
  days = Option.String('--days', DAYS, { description: `Of how many days, today included; default ${DAYS}` });

  override async execute(): Promise<number> {
    const days = wholeNumber('--days', this.days);
    if (days > MAX_DAYS) throw usageError(`--days ${this.days} is more than ten years`, `At most ${MAX_DAYS}.`);
    const { stdio, environment } = this.context;
    const kernel = startKernel(this.place().home, stdio, environment);
    try {
      const report = await reportUsage(await kernel.store(), systemClock.now(), days);
      await this.print(this.json ? JSON.stringify(report, null, 2) : drawn(report));
      return 0;
    } finally {
      await endKernel(kernel, 'read');
    }
  }
}

const HEAD = ['prompt', 'cache read', 'cache write', 'uncached', 'completion', 'sub-agents', 'total', 'cost'];

const drawn = (report: UsageReport): readonly string[] => {
  if (report.sessions === 0) return [`Nothing has been used since ${report.since}.`];
  const table = (title: string, rows: readonly (readonly string[])[]): readonly string[] => ['', ...alignRows([[title, ...HEAD], ...rows])];
  return [
    `${count(report.sessions, 'session')} since ${report.since}${report.isCut ? '; there are more than can be added up at once, so this is a part' : ''}`,
    ...table('day', [...report.days.map((sum) => [sum.day, ...cellsOf(sum)]), ['all', ...cellsOf(report.total)]]),
    ...table(
      'model',
      report.models.map((sum) => [oneLine(`${sum.provider}/${sum.model}`), ...cellsOf(sum)]),
    ),
    ...table(
      'project',
      report.projects.map((sum) => [oneLine(sum.root), ...cellsOf(sum)]),
    ),
  ];
};

const cellsOf = (sum: Sum): readonly string[] => [
  ...[sum.promptTokens, sum.cacheReadTokens, sum.cacheWriteTokens, sum.uncachedTokens, sum.completionTokens, sum.subagentTokens, sum.totalTokens].map(
    (tokens) => String(tokens).replace(/\B(?=(\d{3})+$)/g, ','),
  ),
  sum.cost === undefined ? 'unknown' : `${sum.isCostPartial ? 'at least ' : ''}$${sum.cost.toFixed(4)}`,
];
