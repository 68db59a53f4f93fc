/** Draws a sketch as plain text. */
import type { Sketch } from '../kernel/index.ts';
import { alignRows } from './style.ts';

export const drawSketch = (sketch: Sketch): string => {
  switch (sketch.kind) {
    case 'rows':
      return sketch.rows.map(drawSketch).join('\n');
    case 'table':
      return alignRows([sketch.head, ...sketch.rows.map((row) => row.cells)]).join('\n');
    case 'fold':
      return `${sketch.title}\n${drawSketch(sketch.body).replace(/^/gm, '  ')}`;
    case 'badge':
      return `[${sketch.text}]`;
    case 'progress':
      return `${sketch.done}/${sketch.total}${sketch.text === '' ? '' : ` ${sketch.text}`}`;
    default:
      return sketch.text;
  }
};
