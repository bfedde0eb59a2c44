import { defineProvider } from '../../provider/provider.ts'

/** A connection for `ai_generate`; with `base_url` to any server that has the same API. */
export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  evidence:
    'platform.openai.com/docs/api-reference; max_completion_tokens and temperature: refusals in langgenius/dify #24307 and QwenLM/qwen-code #921; read 2026-11-20',
  baseUrl: 'https://api.openai.com/v1',
  baseUrlField: 'base_url',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
