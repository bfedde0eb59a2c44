import { defineProvider } from '../../provider/provider.ts'

/** Models named `deepseek/<name>`, over the API that they share with OpenAI. */
export const deepseek = defineProvider({
  id: 'deepseek',
  name: 'DeepSeek',
  evidence:
    'api-docs.deepseek.com (the API that it shares with OpenAI); named as where it is documented, November 2026',
  baseUrl: 'https://api.deepseek.com/v1',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
