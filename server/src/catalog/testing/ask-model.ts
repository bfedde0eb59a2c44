import { expect } from 'vitest'
import { type ModelReply, type ModelServer, serveOpenAi } from './model-server.ts'
import { type Settings, useActions } from './run-action.ts'

export const KEY = 'sk-test-1234567890'
export const PROMPT = { model: 'small', prompt: 'Rate {{input.company}}.' }
export const FIELDS = {
  fields: [
    { name: 'score', type: 'number', description: 'From 0 to 10.' },
    { name: 'reason', type: 'string' },
  ],
}
export const GOOD = '{"score": 7, "reason": "solid"}'
export const row = { input: { company: 'Acme' } }

export const failedWith = (message: RegExp) => ({ kind: 'failed', message: expect.stringMatching(message) })

/** Runs ai_generate against real servers. The services are closed after the test file. */
export function useModel() {
  const runAction = useActions()

  async function askAt({ origin }: ModelServer, inputs: object = {}, settings: Settings = {}) {
    const models = { LOAM_MODEL_BASE_URL: `${origin}/v1`, LOAM_MODEL_API_KEY: KEY, ...settings.models }
    const outcome = await runAction('ai_generate', { ...PROMPT, ...inputs }, { row, ...settings, models })
    return { outcome }
  }

  /** Asks a server with these replies. */
  async function ask(replies: ModelReply[], inputs: object = {}, settings: Settings = {}) {
    const server = await serveOpenAi(replies)
    return { ...(await askAt(server, inputs, settings)), calls: server.calls }
  }

  return { ask, askAt, runAction }
}
