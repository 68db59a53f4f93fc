// `node --require` this file: at its end the process writes what it used into the file that BENCH_USAGE names: CPU in milliseconds, user and
// system, and its peak memory in KiB.
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require('node:fs').writeFileSync(process.env.BENCH_USAGE, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1000, memory: maxRSS }));
});
