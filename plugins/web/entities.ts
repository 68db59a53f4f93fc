/** Character references of HTML: numbers, the names of Latin-1, and those that texts really use. */
const LATIN1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo ' +
  'frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve ' +
  'Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ' +
  'ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const NAMES: ReadonlyMap<string, string> = new Map([
  ...LATIN1.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(160 + index)]),
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“' }),
  ...Object.entries({ rdquo: '”', sbquo: '‚', bdquo: '„', bull: '•', trade: '™', euro: '€', larr: '←', uarr: '↑', rarr: '→', darr: '↓', minus: '−' }),
]);

export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{1,8}\d{0,2}));/g, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMES.get(name) ?? all;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : '\ufffd';
  });
