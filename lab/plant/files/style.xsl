<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>
<xsl:template match="/items"><xsl:for-each select="item[amount &gt; 90000]"><xsl:sort select="name"/><xsl:value-of select="concat(name,'=',amount,'&#10;')"/></xsl:for-each><xsl:value-of select="sum(//amount)"/></xsl:template></xsl:stylesheet>
