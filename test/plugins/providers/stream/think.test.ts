import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HalfKeeper, type Part, ThinkSplitter } from '../../../../plugins/providers/stream/think.ts';

interface Read {
  readonly reasoning: string;
  readonly text: string;
}
const read = (pieces: readonly string[]): Read => {
  const splitter = new ThinkSplitter();
  const parts: Part[] = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
  const of = (type: Part['type']) => parts.map((part) => (part.type === type ? part.text : '')).join('');
  return { reasoning: of('reasoning'), text: of('text') };
};

const CASES: readonly (readonly [string, string, string])[] = [
  ['<think>why</think>so', 'why', 'so'],
  ['<think>\n\nwhy\n</think>\n\nso', 'why\n', 'so'],
  ['\n <think>\r\nwhy</think>\r\n\n so\n', 'why', ' so\n'],
  ['<think></think>so', '', 'so'],
  ['<think>why', 'why', ''],
  ['<think>why</thi', 'why</thi', ''],
  ['<thi', '', '<thi'],
  ['<thinking>so', '', '<thinking>so'],
  ['so <think>not</think>', '', 'so <think>not</think>'],
  ['<think>a</think>b<think>c</think>', 'a', 'b<think>c</think>'],
  ['<think>a < b </ c </think>d', 'a < b </ c ', 'd'],
  ['<think>\n</think>\n', '', ''],
  ['  ', '', '  '],
  ['', '', ''],
];

describe('thinking at the start of the content', () => {
  test.each(CASES)('%j', (content, reasoning, text) => {
    expect(read([content])).toEqual({ reasoning, text });
    expect(read([...content])).toEqual({ reasoning, text });
  });

  test('the cuts between pieces change nothing', () => {
    const word = fc.constantFrom('<think>', '</think>', '<', 'think>', '/', '\n', '\r\n', ' ', 'a', 'b c', '</thin', '<thi');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 12 }), (words, cuts) => {
        const content = words.join('');
        const edges = [0, ...cuts.map((cut) => Math.min(cut, content.length)).sort((a, b) => a - b), content.length];
        const pieces = edges.slice(1).map((edge, index) => content.slice(edges[index], edge));
        expect(read(pieces)).toEqual(read([content]));
      }),
    );
  });

  test('no more is held back than what may become a tag', () => {
    const splitter = new ThinkSplitter();
    expect(splitter.push('<think>because <')).toEqual([{ type: 'reasoning', text: 'because ' }]);
    expect(splitter.push('b')).toEqual([{ type: 'reasoning', text: '<b' }]);
    expect(splitter.push('</think>so <')).toEqual([{ type: 'text', text: 'so <' }]);
  });
});

test('two halves of a character stay together', () => {
  const keeper = new HalfKeeper();
  const high = '\ud83d';
  const low = '\ude00';
  expect([keeper.push(`a${high}`), keeper.push(`${low}b`), keeper.push(high), keeper.end()]).toEqual(['a', '\ud83d\ude00b', '', '\ud83d']);
});
