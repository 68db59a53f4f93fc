import { expect, test } from 'vitest';
import { isLongRunner } from '../../../plugins/bash/known.ts';
import { partsOf } from '../../../plugins/shell/analysis.ts';

const isKnown = (command: string): boolean => isLongRunner(command, partsOf(command));

test.each([
  'python -m http.server',
  'python3 -m http.server 8000',
  'npm run dev',
  'npm run dev -- --port 3000',
  'pnpm dev',
  'yarn watch',
  'bun run serve',
  'npm run watch:css',
  'npm --prefix web run dev',
  'pnpm -C web dev',
  'yarn workspace web run dev',
  'vite',
  'npx vite --host',
  'vite dev',
  'next start -p 80',
  'next --turbo',
  'astro dev',
  'pnpm exec astro dev',
  'cargo watch -x test',
  'docker watch',
  'docker compose watch',
  'tail -f log',
  'tail -n 100 -F log',
  'tail -100f log',
  'journalctl -u app --follow',
  'sudo journalctl -fu app',
  'nodemon app.js',
  'npx webpack-dev-server',
  'docker compose up',
  'docker-compose -f a.yml up --build',
  'podman compose up web',
  'while true; do date; sleep 1; done',
  'while :; do date; done',
  'echo a; while  true ; do date; done',
  'sleep infinity',
  'sleep 1000',
  'sleep 86400s',
  'NPM Run Dev'.toLowerCase(),
  'NPM run dev',
  'cd web && PORT=1 npm run dev',
  'npm ci && npm run dev 2>&1 | tee log',
  'nohup npm run dev',
  "bash -c 'npm run dev'",
  '/usr/bin/tail -f x',
])('%s runs until somebody ends it', (command) => {
  expect(isKnown(command)).toBe(true);
});

test.each([
  'npm run build',
  'npm test',
  'npm install dev',
  'yarn add serve',
  'vite build',
  'vite --version',
  'next build',
  'npx astro check',
  'cargo test',
  'docker compose up -d',
  'docker compose up --detach',
  'docker compose logs',
  'tail -n 5 log',
  'tail --lines=5 -q f',
  'journalctl -u foo --no-pager',
  'sleep 5',
  'sleep 999',
  'echo npm run dev',
  "echo 'while true; do x; done'",
  'grep -f patterns file',
  'timeout 5 tail -f log',
  'npm run dev & sleep 3; curl localhost:3000',
  'nohup npm run dev > log 2>&1 &',
  'while true; do curl -s localhost && break; sleep 1; done',
  'python -m pytest',
  'python server.py',
  'git log --follow f',
  'true || echo while',
  'tail -f "unfinished',
])('%s ends, or nothing is known of it', (command) => {
  expect(isKnown(command)).toBe(false);
});

test('without a grammar nothing is known', () => {
  expect(isLongRunner('tail -f log', undefined)).toBe(false);
});
