import { text } from 'node:stream/consumers'
import { serveHttp } from '#test/loopback-server.ts'

/** What a model says in one turn: words, calls of tools, or a refusal of the server. */
export type ChatReply =
  | { says: string }
  | { calls: { name: string; input: Record<string, unknown> }[]; says?: string }
  | { status: number; message: string }

export type ChatMessage = { role: string; content: string | null; tool_calls?: unknown[] }
export type ChatBody = {
  messages: ChatMessage[]
  tools?: unknown[]
  response_format?: unknown
}

/** An OpenAI-compatible server whose model does what a function says. */
export async function serveChat(
  think: (body: ChatBody, turn: number) => ChatReply,
): Promise<{ url: string; bodies: ChatBody[] }> {
  const bodies: ChatBody[] = []
  const { origin } = await serveHttp((request, response) => {
    const answer = async () => {
      const body = JSON.parse(await text(request)) as ChatBody
      bodies.push(body)
      const reply = think(body, bodies.length)
      const [status, sent] =
        'status' in reply ? [reply.status, { error: { message: reply.message } }] : [200, printTurn(reply)]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent))
    }
    void answer()
  })
  return { url: `${origin}/v1`, bodies }
}

function printTurn(reply: Exclude<ChatReply, { status: number }>) {
  const calls = 'calls' in reply ? reply.calls : []
  const message = {
    role: 'assistant',
    content: reply.says ?? null,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ name, input }, n) => ({
            id: `call_${n}_${Math.random().toString(36).slice(2)}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
  }
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  }
}
