// `node --import` this file: at its end the process writes its peak memory, in KiB, into the file that BENCH_MEMORY names.
import { writeFileSync } from 'node:fs';

process.on('exit', () => writeFileSync(process.env.BENCH_MEMORY, String(process.resourceUsage().maxRSS)));
