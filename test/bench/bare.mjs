/** What cast is compared with: the same requests and the same reading, and nothing else. `node bare.mjs stream|rounds URL`. */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { ROUNDS } from './server.mjs';

const agent = new Agent({ keepAlive: true });

const post = (url, body) =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${url}/chat/completions`, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, async (response) => {
      let text = '';
      response.setEncoding('utf8');
      for await (const part of response) text += part;
      resolve(text);
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(body));
  });

const [, , what, url] = process.argv;
if (what === 'stream') process.stdout.write(await post(url, { model: 'many', stream: true, messages: [{ role: 'user', content: 'go' }] }));
else {
  const messages = [{ role: 'user', content: 'go' }];
  for (let round = 1; round <= ROUNDS; round += 1) {
    messages.push({ role: 'assistant', content: await post(url, { model: 'rounds', stream: true, messages }) });
    messages.push({ role: 'tool', tool_call_id: `call_${round}`, content: await readFile(`file-${round}.txt`, 'utf8') });
  }
  await post(url, { model: 'rounds', stream: true, messages });
}
agent.destroy();
