import { describe, expect, test } from 'vitest';
import { convertPage } from '../../../plugins/web/page.ts';
import { plainText } from '../../../plugins/web/plain.ts';
import { openDesk, page } from './desk.ts';

const markdown = (html: string): string => convertPage({ html, url: 'https://example.org/docs/a', format: 'markdown' }).text;

describe('Markdown', () => {
  test('of links and images has whole addresses, and none that lead nowhere', () => {
    expect(
      markdown('<p><a href="/x">a</a> <a href="#part">b</a> <a href="javascript:go()">c</a> <a href="y"><img src="i.png" alt="d"></a> <a href="z"></a>'),
    ).toBe('[a](https://example.org/x) b c [![d](https://example.org/docs/i.png)](https://example.org/docs/y)');
    expect(markdown('<base href="https://other.org/deep/"><a href="x">a</a><img src="data:image/png;base64,AAAA" alt="huge">')).toBe(
      '[a](https://other.org/deep/x)',
    );
  });

  test('of tables, with and without a head, with what a cell may hold', () => {
    expect(
      markdown('<table><caption>c</caption><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1<br>2</td><td><p>x | y</p></td></tr></tbody></table>'),
    ).toBe('c\n\n| A | B |\n| --- | --- |\n| 1 2 | x \\| y |');
    expect(markdown('<table><tbody><tr><td>1<td>2</tr><tr><td>3<td></tr></tbody></table>')).toBe('| 1 | 2 |\n| --- | --- |\n| 3 |  |');
  });

  test('of tables that only put things side by side is what is in them', () => {
    const inner = '<table><tr><td>1.</td><td><a href="/a">A title</a></td></tr><tr><td></td><td>by me</td></tr></table>';
    expect(markdown(`<table><tr><td>${inner}</td></tr><tr><td><h2>Part</h2><p>one</p><p>two</p></td></tr></table>`)).toBe(
      '| 1. | [A title](https://example.org/a) |\n| --- | --- |\n|  | by me |\n\n## Part\n\none\n\ntwo',
    );
  });

  test('of code keeps each space of it', () => {
    expect(markdown('<pre class="language-ts">\nif (a) {\n  b;\n}\n</pre>')).toBe('```ts\nif (a) {\n  b;\n}\n```');
    expect(markdown('<div class="highlight-source-shell"><pre>a  b\n```\nc</pre></div>')).toBe('````shell\na  b\n```\nc\n````');
  });

  test('leaves out what nobody reads', () => {
    expect(
      markdown('<title>t</title><nav>n</nav><p>a</p><svg><title>s</title></svg><p hidden>h</p><template>x</template><button>b</button><footer>f</footer>'),
    ).toBe('a');
  });

  test('knows pages without the tags that may be left out', () => {
    const { title, text } = convertPage({ html: '<!doctype html><title>T</title><p>one<p>two', url: 'https://example.org/', format: 'markdown' });
    expect({ title, text }).toEqual({ title: 'T', text: 'one\n\ntwo' });
  });

  const sentence = 'This is a sentence of the article, which has commas, and goes on for a while so that it counts. ';
  const article = `<article><h2>News</h2>${`<p>${sentence.repeat(4)}</p>`.repeat(6)}</article>`;
  test('is of the article where there is one', () => {
    const text = markdown(`<div class="sidebar"><ul>${'<li><a href="/s">Elsewhere</a></li>'.repeat(8)}</ul></div>${article}`);
    expect(text).toContain('This is a sentence');
    expect(text).not.toContain('Elsewhere');
  });
  test('is of the whole page where what looks like one is the least of it', () => {
    const rows = Array.from({ length: 400 }, (_, index) => `<li><a href="/${index}">Entry number ${index} of the list</a></li>`).join('');
    const text = markdown(`<div class="sidebar"><ul>${rows}</ul></div>${article}`);
    expect(text).toContain('Entry number 399 of the list');
  });
});

test('a table of thousands of rows takes no longer for each of them', () => {
  const startedAt = performance.now();
  const rows = markdown(`<table>${'<tr><td>a<td>b</tr>'.repeat(10_000)}</table>`).split('\n');
  expect([rows.length, rows.at(-1)]).toEqual([10_001, '| a | b |']);
  // By the square it would be minutes.
  expect(performance.now() - startedAt).toBeLessThan(30_000);
}, 60_000);

describe('text without a tree', () => {
  test('is in lines, with marks of lists, and preformatted as it was', () => {
    const html =
      '<title>T &lt; U</title><h1>A</h1>b <i>c</i>&nbsp;d<br>e<ul><li>f<li><p>g</p></ul><pre>h\n  i</pre>j &amp; k &#233; &#x1f600; &unknown; < l<!-- m > n --><script>o</script>';
    expect(plainText(html)).toEqual({ title: 'T < U', text: 'A\n\nb c d\ne\n\n- f\n\n- g\n\nh\n  i\n\nj & k é 😀 &unknown; < l' });
  });
  test('knows quotes, and brackets in them', () => {
    expect(plainText(`<p title="a > b" class='c > d'>e</p><p title="open>f</p>`).text).toBe('e\n\nf');
  });
  test('of a page that ends in the middle has none of its script', () => {
    expect(plainText('<p>a</p><script>var b').text).toBe('a');
    expect(plainText('<nav>a<p>b').text).toBe('a\n\nb');
  });

  const many = 150_000;
  test.each([
    ['open tags', '<a '.repeat(many)],
    ['open quotes', '<a b="'.repeat(many)],
    ['quoted ends', '<a b=">" '.repeat(many)],
    ['open comments', '<!-- '.repeat(many)],
    ['open scripts', '<script '.repeat(many)],
    ['skipped elements without an end', '<nav>'.repeat(many)],
    ['titles without an end', '<title>'.repeat(many)],
    ['brackets', '<'.repeat(many)],
    ['ampersands', '&aaaaaaaa'.repeat(many)],
    ['white space', ' \n'.repeat(many)],
    ['nothing', '<p>'.repeat(many)],
    ['nesting', `${'<div>'.repeat(many)}x${'</div>'.repeat(many)}`],
  ])('takes no longer for %s', (_name, html) => {
    const startedAt = performance.now();
    plainText(html);
    // By the square it would be minutes.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('pages that are made to be too much', () => {
  test.each([
    ['nested a thousand deep', `${'<div>'.repeat(1_000)}core${'</div>'.repeat(1_000)}`, 'core'],
    ['nested a hundred thousand deep', `${'<div>'.repeat(100_000)}core${'</div>'.repeat(100_000)}`, 'core'],
    ['with a table of 10,000 rows', `<table>${'<tr><td>core<td>b</tr>'.repeat(10_000)}</table>`, 'core'],
    ['of five million brackets, which are no tags', '<'.repeat(5_000_000), '<<<<'],
    ['with 20,000 links in a row', '<a href="/x">core</a> '.repeat(20_000), 'core'],
  ])('%s are told all the same, and the loop stays free', async (_name, html, expected) => {
    const site = await page(`<title>T</title>${html}`);
    const desk = await openDesk({ allow: [site.host] });
    let slowest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      slowest = Math.max(slowest, performance.now() - last);
      last = performance.now();
    }, 10);
    const result = await desk.fetch({ url: site.url });
    clearInterval(timer);
    expect(result).toMatchObject({ status: 'ok', content: expect.stringContaining(expected) });
    expect(result.content).toMatch(/\nTitle: T\n/);
    // In the loop itself the second of them would take far longer.
    expect(slowest).toBeLessThan(6_000);
  });

  // Without the thread: how long it takes on a busy machine is not what is asked.
  test('longer than what a tree is made of are told from their beginning, and that is said', () => {
    const html = `<p>first</p>${'<p>more and more</p>'.repeat(100_000)}`;
    const { text, isCut } = convertPage({ html, url: 'https://example.org/', format: 'markdown' });
    expect({ isCut, start: text.slice(0, 20) }).toEqual({ isCut: true, start: 'first\n\nmore and more' });
    expect(text.length).toBeLessThan(1_048_576);
  }, 60_000);

  test('are left at once on abort', async () => {
    const site = await page(`${'<div>'.repeat(20_000)}x`);
    const aborter = new AbortController();
    const result = (await openDesk({ allow: [site.host] })).fetch({ url: site.url }, { signal: aborter.signal });
    await expect.poll(() => site.came.length).toBe(1);
    setTimeout(() => aborter.abort(new Error('stop')), 50);
    expect((await result).status).toBe('aborted');
  });
});
