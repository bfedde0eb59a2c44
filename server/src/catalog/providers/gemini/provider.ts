import { defineProvider } from '../../provider/provider.ts'

/** Models named `gemini/<name>`, over the API that they share with OpenAI. */
export const gemini = defineProvider({
  id: 'gemini',
  name: 'Gemini',
  evidence:
    'ai.google.dev/gemini-api/docs/openai (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
