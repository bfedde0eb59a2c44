import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { serveHttp } from '#test/doubles/loopback-server.ts'

/** The reply of a model server to one call: text of the model, or any other reply of a server. */
export type ModelReply =
  | { says: string; finish?: string; cached?: number }
  | { status: number; headers?: Record<string, string>; body: string }
  | 'nothing'

// Tests inspect requests freely: a wrong path reads as undefined and fails its expectation.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

export type ModelCall = { path: string; headers: NodeJS.Dict<string | string[]>; body: Json }
export type ModelServer = { origin: string; calls: ModelCall[] }
type Wire = (words: { says: string; finish?: string; cached?: number }, model: string) => object

type Script = { replies: ModelReply[]; refusing?: ((body: Json) => ModelReply | undefined) | undefined }

/** Replies to calls in order and repeats the last reply. `refusing` sees each call first. */
function play(wire: Wire, { replies, refusing }: Script) {
  const calls: ModelCall[] = []
  let answered = 0
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const body: Json = JSON.parse(await text(request))
    calls.push({ path: request.url ?? '', headers: request.headers, body })
    const reply = refusing?.(body) ?? replies[Math.min(answered++, replies.length - 1)]
    if (reply === undefined || reply === 'nothing') return
    const raw = 'says' in reply ? { status: 200, body: JSON.stringify(wire(reply, body.model)) } : reply
    const headers = 'headers' in raw ? raw.headers : {}
    response.writeHead(raw.status, { 'content-type': 'application/json', ...headers }).end(raw.body)
  }
  return { listener, calls }
}

const openAiWire: Wire = ({ says, finish = 'stop', cached = 0 }, model) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: says }, finish_reason: finish }],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 10,
    total_tokens: 110,
    prompt_tokens_details: { cached_tokens: cached },
  },
})

const anthropicWire: Wire = ({ says, finish = 'end_turn', cached = 0 }, model) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: says }],
  stop_reason: finish,
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: cached },
})

/** Plays OpenAI's API on a server that the test already has. */
export const playOpenAi = (script: Script) => play(openAiWire, script)

/** Starts a model server for one test. */
async function serve(wire: Wire, script: Script): Promise<ModelServer> {
  const { listener, calls } = play(wire, script)
  const { origin } = await serveHttp((request, response) => void listener(request, response))
  return { origin, calls }
}

export const serveOpenAi = (replies: ModelReply[], refusing?: Script['refusing']) =>
  serve(openAiWire, { replies, refusing })
export const serveAnthropic = (replies: ModelReply[]) => serve(anthropicWire, { replies })
