import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type ChatBody, printTurn } from '#server/catalog/testing/chat-turn.ts'
import { closeServer, listen } from '../world-server.ts'
import { think } from './model.ts'

/** The average number of characters per token in models that read English. */
const CHARACTERS_A_TOKEN = 4
const countTokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS_A_TOKEN)

/** Serves the rule-based model as an OpenAI-compatible server on loopback. */
export async function serveScriptedModel(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = async () => {
      const body = JSON.parse(await text(request)) as ChatBody
      const reply = think(body)
      const tokens = { input: countTokens(body), output: countTokens(reply) }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(printTurn(reply, tokens)))
    }
    void answer()
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}/v1`, close: () => closeServer(server) }
}
