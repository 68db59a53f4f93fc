/** `cast plugins`: what would run here, in which order, and why something does not. Nothing is started to find out. */
import { Command, Option } from 'clipanion';
import type { Report } from '../kernel/index.ts';
import { nearest } from '../kernel/nearest.ts';
import { CastCommand, pluginSwitches, usageError } from './arguments.ts';
import { describeHook, describePlugin, listReport } from './inspect-text.ts';
import { openOptionsOf } from './opening.ts';
import { endKernel, startKernel } from './processes.ts';
import { createSourceNames } from './source-map.ts';
import { createPaint, oneLine } from './style.ts';

abstract class InspectCommand extends CastCommand {
  plugins = Option.Array('--plugin', [], { description: 'NAME=on or NAME=off' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  protected async report(): Promise<Report> {
    const { stdio, environment } = this.context;
    const switches = pluginSwitches(this.plugins);
    const opening = await this.open(Object.keys(switches).length > 0 ? { plugins: switches } : {});
    this.remark(opening);
    const kernel = startKernel(opening.home, stdio, environment);
    try {
      const report = await kernel.inspect(openOptionsOf(opening));
      for (const text of report.warnings) stdio.err(`cast: ${oneLine(text)}\n`);
      return withSources(report, opening.cwd);
    } finally {
      await endKernel(kernel, 'it has been looked at');
    }
  }
  protected get look(): { readonly paint: ReturnType<typeof createPaint>; readonly columns: number | undefined } {
    const { stdio, environment } = this.context;
    return { paint: createPaint(stdio.isTerminal.out, environment), columns: stdio.columns };
  }
}

const withSources = (report: Report, cwd: string): Report => {
  const names = createSourceNames(cwd);
  return {
    ...report,
    hooks: report.hooks.map((hook) => ({ ...hook, taps: hook.taps.map((tap) => ({ ...tap, source: names.nameOf(tap.source) })) })),
  };
};

class ListCommand extends InspectCommand {
  static override paths = [['plugins', 'list']];
  static override usage = Command.Usage({ category: 'Plugins', description: 'Hooks with their taps in order; plugins with state and reason' });

  override async execute(): Promise<number> {
    const report = await this.report();
    await this.print(this.json ? JSON.stringify(report, null, 2) : listReport(report, this.look));
    return 0;
  }
}

class OneCommand extends InspectCommand {
  static override paths = [['plugins', 'inspect']];
  static override usage = Command.Usage({ category: 'Plugins', description: 'One plugin, or one hook' });
  name = Option.String({ name: 'NAME' });

  override async execute(): Promise<number> {
    const report = await this.report();
    const plugin = report.plugins.find(({ name }) => name === this.name);
    const hook = report.hooks.find(({ name }) => name === this.name);
    if (plugin) {
      const taps = report.hooks.flatMap(({ name, taps: all }) => all.filter((tap) => tap.plugin === plugin.name).map((tap) => ({ hook: name, ...tap })));
      await this.print(this.json ? JSON.stringify({ ...plugin, taps }, null, 2) : describePlugin(plugin, taps, this.look));
    } else if (hook) await this.print(this.json ? JSON.stringify(hook, null, 2) : describeHook(hook, this.look));
    else {
      const near = nearest(
        this.name,
        [...report.plugins, ...report.hooks].map(({ name }) => name),
      );
      throw usageError(`there is no plugin and no hook ${this.name}`, near === undefined ? '`cast plugins list` shows all of them.' : `Did you mean ${near}?`);
    }
    return 0;
  }
}

export const pluginCommands = [ListCommand, OneCommand];
