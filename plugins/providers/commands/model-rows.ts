/** A table of models, each row with what leads to it. */
import type { ModelInfo, Sketch } from '../../../kernel/index.ts';
import { MAX_ROWS } from './desk.ts';

/** What a command takes for one word. */
const IS_WORD = /^[^\s\p{Cc}]+$/u;

export interface RowOptions {
  readonly current?: string;
  readonly commandFor: (id: string) => string;
}

export const modelRows = (models: readonly ModelInfo[], { current, commandFor }: RowOptions): Sketch => ({
  kind: 'table',
  head: ['', 'model', 'window', ''],
  rows: models.slice(0, MAX_ROWS).map((model) => ({
    cells: [
      model.id === current ? 'current' : '',
      model.id,
      model.contextWindow?.toString() ?? '',
      (model.reasoning?.levels.length ?? 0) > 0 ? 'reasoning' : '',
    ],
    actions: model.id === current || !IS_WORD.test(model.id) ? [] : [{ label: 'use', command: commandFor(model.id) }],
  })),
});
