import { defineProvider } from '../../provider/provider.ts'

/** Models named `openrouter/<name>`, over the API that they share with OpenAI. */
export const openrouter = defineProvider({
  id: 'openrouter',
  name: 'OpenRouter',
  evidence:
    'openrouter.ai/docs/quickstart (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://openrouter.ai/api/v1',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
