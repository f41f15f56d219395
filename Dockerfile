# "make image" fills the folder that this is built from: the static binary, licences, certificates, and the folders that may be written to.
FROM scratch
COPY gluepot /gluepot
COPY THIRD_PARTY_LICENSES /THIRD_PARTY_LICENSES
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --chown=65532:65532 writable/ /
USER 65532:65532
# The default database is data/gluepot.db from here. Were it in a variable, GLUEPOT_DATABASE_URL_FILE would contradict it.
WORKDIR /
ENV GLUEPOT_HTTP_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=7s --start-period=30s CMD ["/gluepot", "health"]
ENTRYPOINT ["/gluepot"]
CMD ["serve"]
