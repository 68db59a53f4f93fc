/** `cast config`: every key that is set, and who set it. */
import { Command, Option } from 'clipanion';
import { isPlugin, type ConfigView } from '../kernel/index.ts';
import { mergeLayers } from '../kernel/host/config.ts';
import { CastCommand, pluginSwitches } from './arguments.ts';
import { shownValue } from './hidden.ts';
import { lockedNames } from './opening.ts';
import { alignRows, createPaint, oneLine } from './style.ts';

type Entry = ReturnType<ConfigView['entries']>[number];

export class ConfigCommand extends CastCommand {
  static override paths = [['config']];
  static override usage = Command.Usage({ description: 'Effective configuration, each key with its layer and file' });
  plugins = Option.Array('--plugin', [], { description: 'NAME=on or NAME=off' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    const switches = pluginSwitches(this.plugins);
    const opening = await this.open(Object.keys(switches).length > 0 ? { plugins: switches } : {});
    this.remark(opening);
    const config = mergeLayers(opening.layers, lockedNames());
    const entries = config.entries().map((entry) => ({ ...entry, value: shown(entry) }));
    if (this.json) {
      const rows = entries.map(({ key, value, origin }) => ({ key, value, layer: origin.layer, file: origin.file ?? null }));
      await this.print(JSON.stringify({ home: opening.home, root: opening.root, cwd: opening.cwd, entries: rows }, null, 2));
      return 0;
    }
    const paint = createPaint(stdio.isTerminal.out, environment);
    const rows = alignRows(entries.map(({ key, value, origin }) => [key, oneLine(textOf(value)), origin.file ?? origin.layer]));
    await this.print([
      paint.dim(`home ${opening.home}`),
      paint.dim(`project ${opening.root}`),
      '',
      ...(rows.length > 0 ? rows : ['Nothing is set: all is as cast comes.']),
    ]);
    return 0;
  }
}

const shown = ({ key, value }: Entry): unknown => (isPlugin(value) ? '(a plugin)' : shownValue(key, value));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)));
