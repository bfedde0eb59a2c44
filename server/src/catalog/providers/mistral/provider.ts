import { defineProvider } from '../../provider/provider.ts'

/** Models named `mistral/<name>`, over the API that they share with OpenAI. */
export const mistral = defineProvider({
  id: 'mistral',
  name: 'Mistral',
  evidence:
    'docs.mistral.ai/api (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://api.mistral.ai/v1',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
