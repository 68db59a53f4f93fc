import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

/** Each says: this function returns the name of the user, or an empty value when nothing is found; do not change the code below. */
const EAST_ASIAN: readonly (readonly [name: string, table: string, comment: string, word: string, other: string, lacks: string])[] = [
  ['GBK', 'gbk', '这个函数返回用户的名称，如果没有找到就返回空值。请不要修改下面的代码。', '用户', '客户', '🙂'],
  ['Shift_JIS', 'shiftjis', 'この関数はユーザー名を返します。見つからない場合は空の値を返します。', '関数', '手続き', '简'],
  ['EUC-KR', 'euc-kr', '이 함수는 사용자 이름을 반환합니다. 찾을 수 없으면 빈 값을 반환합니다.', '사용자', '손님', '🙂'],
  ['Big5', 'big5', '這個函數返回用戶的名稱，如果沒有找到就返回空值。請不要修改下面的代碼。', '用戶', '客戶', 'ü'],
];

describe.each(EAST_ASIAN)('%s', (name, table, comment, word, other, lacks) => {
  const before = `# ${comment}\r\nvalue = "a"\r\n\tend  `;

  test('is read as it is meant', async () => {
    desk.put('a.txt', iconv.encode(before, table));
    expect((await desk.run('read', { path: 'a.txt' })).content).toBe(`1: # ${comment}\n2: value = "a"\n3: \tend  `);
  });

  test('is edited by its characters, and new ones are written in it', async () => {
    desk.put('a.txt', iconv.encode(before, table));
    const result = await desk.run('edit', { filePath: 'a.txt', oldString: word, newString: other });
    expect(result.status, result.content).toBe('ok');
    expect(result.content).toContain(`+# ${comment.replace(word, other)}`);
    expect(desk.bytes('a.txt').equals(iconv.encode(before.replace(word, other), table))).toBe(true);
  });

  test('what it lacks is refused, and the file stays', async () => {
    desk.put('a.txt', iconv.encode(before, table));
    const result = await desk.run('edit', { filePath: 'a.txt', oldString: 'value', newString: lacks });
    expect(result).toMatchObject({ status: 'error', error: { code: 'INVALID_ARGUMENT' }, content: expect.stringContaining(`${name}, which lacks`) });
    expect(desk.bytes('a.txt').equals(iconv.encode(before, table))).toBe(true);
  });

  test('is kept by a write that it can hold', async () => {
    desk.put('a.txt', iconv.encode(before, table));
    const result = await desk.run('write', { path: 'a.txt', content: `${other}\n` });
    expect(result.content).toContain(`Kept from the old file: CRLF line endings, encoding ${name}.`);
    expect(desk.bytes('a.txt').equals(iconv.encode(`${other}\r\n`, table))).toBe(true);
  });

  test('in a large file its page is read as it is meant', async () => {
    const line = iconv.encode(`# ${comment}\n`, table);
    desk.put('a.txt', Buffer.alloc(line.length * Math.ceil(9_000_000 / line.length), line));
    expect((await desk.run('read', { path: 'a.txt', offset: 100, limit: 1 })).content).toContain(`100: # ${comment}\n`);
  });

  test('one stray byte, and it is bytes again, none of which is lost', async () => {
    const broken = Buffer.concat([iconv.encode(before, table), Buffer.from([0xff, 0x0a]), iconv.encode(comment, table)]);
    desk.put('a.txt', broken);
    const result = await desk.run('edit', { filePath: 'a.txt', oldString: 'value = "a"', newString: 'value = "b"' });
    expect(result.status, result.content).toBe('ok');
    expect(desk.bytes('a.txt').toString('latin1')).toBe(broken.toString('latin1').replace('"a"', '"b"'));
  });
});

test('a character with two codes, of which only one would be written, makes it bytes again', async () => {
  // Code ED40 is the same character as FA5C.
  const before = Buffer.concat([
    iconv.encode('# この関数はユーザー名を返します。見つからない場合は空の値を返します。', 'shiftjis'),
    Buffer.from('\xed\x40\nvalue', 'latin1'),
  ]);
  expect(iconv.encode(iconv.decode(before, 'shiftjis'), 'shiftjis').equals(before)).toBe(false);
  desk.put('a.txt', before);
  expect((await desk.run('edit', { filePath: 'a.txt', oldString: 'value', newString: 'other' })).status).toBe('ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(before.toString('latin1').replace('value', 'other'));
});

test('characters of GB18030 alone are kept, and may then be written', async () => {
  const before = `${'这个函数返回用户的名称，如果没有找到就返回空值。'.repeat(3)}🙂 x`;
  desk.put('a.txt', iconv.encode(before, 'gb18030'));
  expect((await desk.run('edit', { filePath: 'a.txt', oldString: 'x', newString: 'ü€' })).status).toBe('ok');
  expect(desk.bytes('a.txt').equals(iconv.encode(before.replace('x', 'ü€'), 'gb18030'))).toBe(true);
});

const LINES = (text: string, count = 20): string => Array.from({ length: count }, () => `${text}\n`).join('');
/** Text of other encodings. It stays what it was, whatever two of its bytes would mean in Asia. */
const EUROPEAN: readonly (readonly [name: string, table: string, text: string])[] = [
  ['one word', 'windows-1252', 'café'],
  ['two words', 'windows-1252', 'naïve café\n'],
  ['one word, often', 'windows-1252', LINES('café', 200)],
  ['German', 'windows-1252', 'Die Größe des Gebäudes überrascht für gewöhnlich jeden Gast.\n'],
  ['much German', 'windows-1252', LINES('Äpfel, Öl und Übermut: größer als ß, „schön“ – ohne Gewähr…')],
  ['French', 'windows-1252', LINES('Créé à l’été précédent, l’élève a été reçu — « voilà », ça suffit où dès août.')],
  ['capitals', 'windows-1252', LINES('ÉTÉ ÀÉÈÊ ÇÀ ÂGÉ ÎLE CRÉÉE À NOËL, ÑANDÚ, AÇÕES, ÄÖÜ')],
  ['Spanish', 'windows-1252', LINES('¿Qué más quería el niño pequeño? ¡Ñandú! Camión, jamón y piña.')],
  ['Portuguese', 'windows-1252', LINES('Não há opções; as ações são à vontade, João.')],
  ['Swedish', 'windows-1252', LINES('Åsa såg älgar på ön, där öar är små.')],
  ['Polish', 'windows-1250', LINES('Zażółć gęślą jaźń, łódź i źdźbło.')],
  ['Russian', 'windows-1251', LINES('Эта функция возвращает имя пользователя. Не изменяйте код ниже.')],
  ['Russian in KOI8-R', 'koi8-r', LINES('Эта функция возвращает имя пользователя. Не изменяйте код ниже.')],
  ['Russian in CP866', 'cp866', LINES('Эта функция возвращает имя пользователя. Не изменяйте код ниже.')],
  ['Greek', 'windows-1253', LINES('Αυτή η συνάρτηση επιστρέφει το όνομα του χρήστη.')],
  ['Hebrew', 'windows-1255', LINES('הפונקציה מחזירה את שם המשתמש, אין לשנות את הקוד.')],
  ['Arabic', 'windows-1256', LINES('تعيد هذه الدالة اسم المستخدم، لا تغير الشفرة أدناه.')],
  ['Turkish', 'windows-1254', LINES('Bu işlev kullanıcının adını döndürür; aşağıdaki kodu değiştirmeyin.')],
  ['French of old Macs', 'macroman', LINES('Créé à l’été précédent, l’élève a été reçu — ça suffit.')],
  ['a frame of DOS', 'cp437', LINES('┌──────┐\n│ text │\n└──────┘')],
  ['a rule of one character', 'windows-1252', LINES('ÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐÐ')],
  ['a rule of another', 'windows-1252', LINES('µµµµµµµµµµµµµµµµµµµµµµµµµµµµµµµµ')],
  ['symbols', 'windows-1252', LINES('© ® ™ ° ± × ÷ § ¶ • … «» ‹› £ ¥ € ½ ¼ ¾')],
  ['a few characters of GBK', 'gbk', '// 返回名称\nlet a = 1;\n'],
];
test.each(EUROPEAN)('%s in %s is not taken for East Asian, and keeps its bytes', async (_name, table, text) => {
  const before = Buffer.concat([iconv.encode(text, table), Buffer.from('\n<<here>>\n')]);
  desk.put('a.txt', before);
  expect((await desk.run('read', { path: 'a.txt' })).content).not.toMatch(/[\u1100-\u11ff\u3000-\u9fff\uac00-\ud7af\uf900-\uffee]/u);
  const result = await desk.run('edit', { filePath: 'a.txt', oldString: '<<here>>', newString: 'é' });
  expect(result.status, result.content).toBe('ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(before.toString('latin1').replace('<<here>>', 'é'));
});

test('Thai, of which much is whole UTF-8 by chance, keeps its bytes', async () => {
  const before = Buffer.concat([iconv.encode(LINES('ฟังก์ชันนี้คืนค่าชื่อผู้ใช้ โปรดอย่าแก้ไขโค้ดด้านล่าง'), 'windows-874'), Buffer.from('<<here>>\n')]);
  desk.put('a.txt', before);
  expect((await desk.run('edit', { filePath: 'a.txt', oldString: '<<here>>', newString: 'e' })).status).toBe('ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(before.toString('latin1').replace('<<here>>', 'e'));
});

test('UTF-8 in which a few bytes are broken is not taken for East Asian', async () => {
  const before = Buffer.concat([Buffer.from(LINES('这个函数返回用户的名称，如果没有找到就返回空值。')), Buffer.from([0xd6, 0xd0, 0x0a])]);
  desk.put('a.txt', before);
  expect((await desk.run('read', { path: 'a.txt', limit: 1 })).content).toContain('1: 这个函数返回用户的名称');
  expect((await desk.run('edit', { filePath: 'a.txt', oldString: '用户', newString: '客户', replaceAll: true })).status).toBe('ok');
  expect(desk.bytes('a.txt').toString('latin1')).toBe(
    before.toString('latin1').replaceAll(Buffer.from('用户').toString('latin1'), Buffer.from('客户').toString('latin1')),
  );
});

describe('UTF-16 without a byte order mark', () => {
  const text = 'first line, grüß 🙂\r\nsecond line\r\n';
  test.each([
    ['LE', (bytes: Buffer) => bytes],
    ['BE', (bytes: Buffer) => bytes.swap16()],
  ])('%s is read and edited', async (_name, order) => {
    desk.put('a.txt', order(Buffer.from(text, 'utf16le')));
    expect((await desk.run('read', { path: 'a.txt' })).content).toBe('1: first line, grüß 🙂\n2: second line');
    expect((await desk.run('edit', { filePath: 'a.txt', oldString: 'second', newString: 'zweite – 漢' })).status).toBe('ok');
    expect(desk.bytes('a.txt').equals(order(Buffer.from(text.replace('second', 'zweite – 漢'), 'utf16le')))).toBe(true);
  });
  test.each([
    ['a few characters', Buffer.from('abc', 'utf16le')],
    ['an odd number of bytes', Buffer.from(`${Buffer.from(text, 'utf16le').toString('latin1')}\0`, 'latin1')],
    ['a NUL in it', Buffer.from(`${text}\0`, 'utf16le')],
    ['small numbers', Buffer.from(Uint16Array.from({ length: 200 }, (_, index) => index % 100).buffer)],
    ['half a character', Buffer.from(`${text}\ud83d`, 'utf16le')],
    ['larger numbers', Buffer.from(Uint16Array.from({ length: 200 }, (_, index) => 0x3000 + index * 17).buffer)],
    ['numbers of four bytes', Buffer.from(Uint32Array.from({ length: 200 }, (_, index) => 32 + index / 3).buffer)],
  ])('%s is binary', async (_name, bytes) => {
    desk.put('a.dat', bytes);
    expect(await desk.run('read', { path: 'a.dat' })).toMatchObject({ status: 'error', content: 'Cannot read binary file a.dat.' });
  });
});

test('a large file with a byte order mark', async () => {
  desk.put('utf8.txt', `\ufeff${LINES('grüß', 1_600_000)}`);
  expect((await desk.run('read', { path: 'utf8.txt', limit: 1 })).content).toBe('1: grüß\n(Lines 1-1. Go on with offset 2.)');
  desk.put('utf16.txt', Buffer.from(`\ufeff${LINES('grüß', 1_000_000)}`, 'utf16le'));
  expect((await desk.run('read', { path: 'utf16.txt', offset: 1_000_000 })).content).toBe('1000000: grüß');
});
