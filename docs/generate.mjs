// Writes the reference pages beside this file. With --check it writes nothing and exits with 1 when one of them is out of step.
import { readFileSync, writeFileSync } from 'node:fs';
import { createJiti } from 'jiti';

const isCheck = process.argv.includes('--check');
const { referencePages } = await createJiti(import.meta.url).import('../test/docs/pages.ts');

const current = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

for (const [path, text] of Object.entries(await referencePages())) {
  const file = new URL(`../${path}`, import.meta.url);
  if (current(file) === text) continue;
  console.log(isCheck ? `${path} is out of step: run node docs/generate.mjs` : `${path} written`);
  if (isCheck) process.exitCode = 1;
  else writeFileSync(file, text);
}
