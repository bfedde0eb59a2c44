import { text } from 'node:stream/consumers'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { type ChatBody, type ChatReply, printTurn } from './chat-turn.ts'

export type { ChatBody, ChatMessage, ChatReply } from './chat-turn.ts'

/** Serves an OpenAI-compatible API. A function decides what the model does. */
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
