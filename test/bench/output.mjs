/** What 2 GB from a command cost, beside one line from a command, and beside a process that reads them and drops them. */
import { createServer } from 'node:http';

const COMMANDS = { 'one-line': 'echo y', '2-gb': 'yes | head -c 2000000000' };

const chunk = (delta, finish) =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const callOf = (command) => ({ index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command }) } });

/** A provider on loopback: each model has its command run, and says one token about it. */
export const startCommandServer = async () => {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return response.writeHead(404).end();
    let body = '';
    request.setEncoding('utf8');
    for await (const part of request) body += part;
    const { model, messages } = JSON.parse(body);
    const result = messages.at(-1).role === 'tool' ? messages.at(-1).content : undefined;
    if (model === '2-gb' && result !== undefined && !/99\d{7} lines .* were left out/.test(result)) throw new Error(`not 2 GB: ${result.slice(0, 200)}`);
    const reply = result === undefined ? chunk({ tool_calls: [callOf(COMMANDS[model])] }, 'tool_calls') : chunk({ content: 'hello' }, 'stop');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${reply}data: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
};

const DROP = `require('node:child_process').spawn('bash', ['-c', '${COMMANDS['2-gb']}'], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.resume()`;
const figures = (name) => ({ [name]: ({ total }) => total, [`${name}, memory`]: ({ memory }) => memory });

export const outputRuns = (cast, url) => {
  const options = { measuresUsage: true, env: { CAST_BASE_URL: url } };
  return [
    [cast('one-line'), options, figures('one line of output')],
    [cast('2-gb'), options, figures('2 GB of output')],
    [['-e', DROP], options, figures('2 GB dropped')],
  ];
};

export const OUTPUT_FIGURES = [
  ['2 GB of output of a command', '2 GB of output', '2 GB dropped', 'read and dropped'],
  ['peak memory, 2 GB of output', '2 GB of output, memory', 'one line of output, memory', 'one line'],
];
