import { defineProvider } from '../../provider/provider.ts'

/** Models named `xai/<name>`, over the API that they share with OpenAI. */
export const xai = defineProvider({
  id: 'xai',
  name: 'xAI',
  evidence:
    'docs.x.ai/docs/api-reference (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://api.x.ai/v1',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
