import { braveNews } from '../providers/brave/news.ts'
import { exaNews } from '../providers/exa/news.ts'
import { searxngNews } from '../providers/searxng/news.ts'
import { serperNews } from '../providers/serper/news.ts'
import { tavilyNews } from '../providers/tavily/news.ts'

/** The search engines for news, in default order. */
export const NEWS_ENGINES = [searxngNews, serperNews, braveNews, tavilyNews, exaNews]
