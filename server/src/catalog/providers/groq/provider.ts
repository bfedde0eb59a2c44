import { defineProvider } from '../../provider/provider.ts'

/** Models named `groq/<name>`, over the API that they share with OpenAI. */
export const groq = defineProvider({
  id: 'groq',
  name: 'Groq',
  evidence:
    'console.groq.com/docs/openai (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://api.groq.com/openai/v1',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
