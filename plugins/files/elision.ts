const DOTS = String.raw`(?:\.{3}|…)`;
const WORDS = String.raw`\b(?:rest|remaining|remainder|existing|unchanged|omitted|previous|same as|as before|as above|no changes?|keep)\b`;
const OPENER = String.raw`(?:\/\/|#+|--|\/\*+|\*|<!--|;+|%|\{\s*\/\*|"""|''')`;
const PARTS = String.raw`(?:code|file|function|class|method|module|implementation|content|contents|component|document|script|body|logic|lines|imports|styles|tests|functions|classes|methods|entries|cases)`;

const MARKERS: readonly RegExp[] = [
  // `// ... rest of code unchanged`, `# … existing code …`
  new RegExp(String.raw`^\s*${OPENER}\s*[[(]?\s*${DOTS}.{0,80}${WORDS}`, 'i'),
  // `// rest of the code ...`, `/* unchanged ... */`
  new RegExp(String.raw`^\s*${OPENER}\s*[[(]?\s*(?:the\s+)?${WORDS}.{0,80}${DOTS}`, 'i'),
  // `// the rest of the file remains the same`
  new RegExp(
    String.raw`^\s*${OPENER}\s*[[(]?\s*(?:the\s+)?(?:rest|remainder) of (?:the\s+|your\s+|this\s+)?${PARTS}\b.{0,40}\b(?:unchanged|same|here|omitted|as is|as before|stays|remains)\b`,
    'i',
  ),
  // `// ... other methods ...`, `// ... 290 more lines`
  new RegExp(String.raw`^\s*${OPENER}\s*[[(]?\s*${DOTS}\s*[[(]?\s*(?:(?:all\s+)?other|(?:[0-9]+\s+)?more|[0-9]+)\s+${PARTS}\b`, 'i'),
  // `// [existing code]`, `[... 290 lines omitted ...]`
  new RegExp(String.raw`^\s*${OPENER}\s*\[\s*(?:the\s+)?(?:existing|remaining|other|previous)\s+${PARTS}[^\]]{0,40}\]`, 'i'),
  new RegExp(String.raw`^\s*(?:${OPENER}\s*)?[[(]?\s*${DOTS}\s*[[(]?\s*[0-9]+\s+(?:more\s+)?lines\s+(?:omitted|unchanged|truncated|skipped|not shown)\b`, 'i'),
  // `... rest of the code ...`, `[... unchanged ...]`: not a spread, which has no space after its dots.
  new RegExp(String.raw`^\s*[[(]?\s*${DOTS}\s+[[(]?(?:the\s+)?${WORDS}\s*(?:${PARTS}|of\b|[)\]]|${DOTS})`, 'i'),
];

/** The first line of `text` that stands for lines left out (`// ... rest of code unchanged`) and is not in `before`. */
export const elisionIn = (text: string, before: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.length < 300 && MARKERS.some((marker) => marker.test(line)) && !before.includes(line.trim()))
    ?.trim();
