/**
 * A provider on loopback that answers by the model's name: `one` token; many of them in `packets` of four, or each by itself as fast as it is
 * taken (`singles`) or at a `pace`; or as many `rounds` of reading a file.
 */
import { createServer } from 'node:http';

export const TOKENS = 20_000;
export const ROUNDS = 50;
/** Tokens a second. */
export const PACE = 10_000;

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const DONE = 'data: [DONE]\n\n';

const oneToken = chunk({ role: 'assistant', content: 'hello' }) + chunk({}, 'stop') + DONE;
const token = chunk({ content: 'token ' });

const write = async (response, text) => {
  if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
};
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

// Written faster than they are read, so that one read brings hundreds of tokens.
const packets = async (response) => {
  const packet = token.repeat(4);
  for (let sent = 0; sent < TOKENS; sent += 4) await write(response, packet);
};
// Each is handed to the network before the next is written.
const singles = async (response) => {
  for (let sent = 0; sent < TOKENS; sent += 1) {
    await write(response, token);
    await turnOfTheLoop();
  }
};
const paced = async (response) => {
  const startedAt = performance.now();
  for (let sent = 0; sent < TOKENS; ) {
    const due = Math.min(TOKENS, Math.floor(((performance.now() - startedAt) / 1000) * PACE));
    for (; sent < due; sent += 1) await write(response, token);
    await turnOfTheLoop();
  }
};
const STREAMS = { packets, singles, pace: paced };

const toolRound = (round, inputOf) => {
  if (round > ROUNDS) return oneToken;
  const call = { index: 0, id: `call_${round}`, type: 'function', function: { name: 'read', arguments: JSON.stringify(inputOf(round)) } };
  return chunk({ role: 'assistant', tool_calls: [call] }) + chunk({}, 'tool_calls') + DONE;
};

/** `inputOf` is what is read in each of the rounds. `arrivals` has the time of each request since the last `reset()`. */
export const startServer = async (inputOf = (round) => ({ path: `file-${round}.txt` })) => {
  let arrivals = [];
  const server = createServer(async (request, response) => {
    // Questions about models.
    if (request.method === 'GET') return response.writeHead(404).end();
    arrivals.push(performance.now());
    const round = arrivals.length;
    let body = '';
    request.setEncoding('utf8');
    for await (const part of request) body += part;
    const { model } = JSON.parse(body);
    response.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const stream = STREAMS[model];
    if (stream) {
      await stream(response);
      response.end(chunk({}, 'stop') + DONE);
    } else response.end(model === 'rounds' ? toolRound(round, inputOf) : oneToken);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    reset: () => {
      arrivals = [];
    },
    arrivals: () => arrivals,
    close: () => server.close(),
  };
};
