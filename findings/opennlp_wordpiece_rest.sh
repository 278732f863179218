#!/usr/bin/env bash
# Claim: the WordpieceTokenizer of Apache OpenNLP gives a word whose end no piece covers the pieces that it had until there, and the
#   unknown token after them. BERT's WordPiece, and tokenizers, give the whole word one unknown token. With the pieces sea, a, ##b and ##c,
#   "seax" is "sea [UNK]" and not "[UNK]", and "abcd" has four tokens in place of one. Words that the pieces cover are the same.
# Packages: org.apache.opennlp:opennlp-tools 2.5.8 (Maven), tokenizers 0.23.3.
# Guess: the same pieces for lower-case text with punctuation.
# It matters to whoever serves a BERT in Java by OpenNLP: text with signs that the vocabulary lacks is more tokens than the model was
#   trained on, and labels of tokens move.
# Date: 2026-12-01. Needs Java 17 and Maven.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pieces</groupId>
  <artifactId>pieces</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.opennlp</groupId>
      <artifactId>opennlp-tools</artifactId>
      <version>2.5.8</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=jars >maven.log 2>&1 || { cat maven.log; exit 1; }
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' sea salt a '##s' '##b' '##c' , . >vocab.txt
printf '%s\n' 'salt, seas.' seax 'abc abcd' 'x sea' >texts
cat >Pieces.java <<'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import opennlp.tools.tokenize.WordpieceTokenizer;

public class Pieces {
    public static void main(String[] arguments) throws Exception {
        var tokenizer = new WordpieceTokenizer(new HashSet<>(Files.readAllLines(Path.of("vocab.txt"))));
        for (String text : Files.readAllLines(Path.of("texts"))) {
            System.out.println("OpenNLP " + String.join(" ", tokenizer.tokenize(text)));
        }
    }
}
JAVA
cat >pieces.py <<'PYTHON'
"""Print the pieces of texts by tokenizers."""

import pathlib

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

pieces = pathlib.Path("vocab.txt").read_text().split("\n")[:-1]
tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
for text in pathlib.Path("texts").read_text().splitlines():
    print("tokenizers", *tokenizer.encode(text).tokens)
PYTHON
{ java -cp "jars/*" Pieces.java 2>said; environment/bin/python pieces.py; } | tee seen
cat >expected <<'TEXT'
OpenNLP [CLS] salt , sea ##s . [SEP]
OpenNLP [CLS] sea [UNK] [SEP]
OpenNLP [CLS] a ##b ##c a ##b ##c [UNK] [SEP]
OpenNLP [CLS] [UNK] sea [SEP]
tokenizers [CLS] salt , sea ##s . [SEP]
tokenizers [CLS] [UNK] [SEP]
tokenizers [CLS] a ##b ##c [UNK] [SEP]
tokenizers [CLS] [UNK] sea [SEP]
TEXT
diff expected seen
